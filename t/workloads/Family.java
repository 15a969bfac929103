// SPDX-License-Identifier: GPL-2.0-or-later
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;

/**
 * Works for as many milliseconds of CPU time as the first argument says, then runs the rest of its
 * arguments as a program, works again, and prints what became of it.
 */
public final class Family {
	static long work(long ms) {
		ThreadMXBean bean = ManagementFactory.getThreadMXBean();
		long end = bean.getCurrentThreadCpuTime() + ms * 1000000, x = 1;

		while (bean.getCurrentThreadCpuTime() < end)
			for (int i = 0; i < 10000; i++)
				x = x * 6364136223846793005L + 1442695040888963407L;
		return x;
	}

	public static void main(String[] args) throws Exception {
		long ms = Long.parseLong(args[0]);

		work(ms);
		if (args.length > 1) {
			Process p = new ProcessBuilder(Arrays.copyOfRange(args, 1, args.length)).inheritIO().start();

			System.out.println("child ended with " + p.waitFor());
			work(ms);
		}
		System.out.println("done");
	}
}
