// SPDX-License-Identifier: GPL-2.0-or-later
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Field;

/** Works a quarter of a second of CPU time and then ends as the argument says. */
public final class Ends {
	static long work(long ms) {
		ThreadMXBean bean = ManagementFactory.getThreadMXBean();
		long end = bean.getCurrentThreadCpuTime() + ms * 1000000, x = 1;

		while (bean.getCurrentThreadCpuTime() < end)
			for (int i = 0; i < 10000; i++)
				x = x * 6364136223846793005L + 1442695040888963407L;
		return x;
	}

	static void crash() throws Exception {
		Class<?> c = Class.forName("sun.misc.Unsafe");
		Field f = c.getDeclaredField("theUnsafe");

		f.setAccessible(true);
		c.getMethod("putAddress", long.class, long.class).invoke(f.get(null), 8L, 1L);
	}

	public static void main(String[] args) throws Exception {
		Thread other = new Thread(() -> work(100000), "other");

		other.setDaemon(true);
		other.start();
		work(250);
		System.out.println("ends by " + args[0]);
		switch (args[0]) {
		case "return":
			return;
		case "exit":
			System.exit(3);
		case "halt":
			Runtime.getRuntime().halt(4);
		case "throw":
			throw new IllegalStateException("thrown");
		case "crash":
			crash();
		case "kill":
			new ProcessBuilder("sh", "-c", "kill -9 " + ProcessHandle.current().pid()).start();
			work(10000);
		}
	}
}
