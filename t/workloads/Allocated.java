// SPDX-License-Identifier: GPL-2.0-or-later
import java.lang.management.ManagementFactory;

/**
 * Allocates in four threads, and prints what each of three has allocated by the JVM's own count, which is asked
 * in the program: "name bytes". Allocated &lt;megabytes&gt; [&lt;seconds&gt;]: then goes on for that long in the last.
 */
public final class Allocated {
	static volatile Object sink;
	static final com.sun.management.ThreadMXBean BEAN =
		(com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

	static void arrays(int megabytes) {
		for (int i = 0; i < megabytes * 1024; i++)
			sink = new byte[1024 - 16];
	}

	static void run(int megabytes) {
		Thread self = Thread.currentThread();

		arrays(megabytes);
		synchronized (Allocated.class) {
			System.out.println(self.getName() + " " + BEAN.getThreadAllocatedBytes(self.getId()));
		}
	}

	public static void main(String[] args) throws InterruptedException {
		int megabytes = Integer.parseInt(args[0]);
		long end = System.nanoTime() + (args.length > 1 ? Long.parseLong(args[1]) : 0) * 1000000000L;
		Thread[] threads = new Thread[3];

		for (int i = 0; i < threads.length; i++) {
			int n = megabytes * (i + 1);

			threads[i] = new Thread(() -> run(n), "worker-" + i);
			threads[i].start();
		}
		for (Thread t : threads)
			t.join();
		do {
			arrays(megabytes);
		} while (System.nanoTime() < end);
	}
}
