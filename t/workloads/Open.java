// SPDX-License-Identifier: GPL-2.0-or-later
import java.util.concurrent.CountDownLatch;

/**
 * Calls that do not end before the program does: one that computes, one that sleeps, two that wait for each other.
 * Prints how long, in ns, all have been open: "open 123"; and the computing one's CPU time: "cpu 45".
 */
public class Open {
	static volatile long sink;
	static final CountDownLatch inside = new CountDownLatch(4);

	static void burn() {
		inside.countDown();
		for (;;)
			sink = sink * 31 + 7;
	}

	static void rest() throws InterruptedException {
		inside.countDown();
		Thread.sleep(1_000_000);
	}

	static void lock(Object mine, Object other) throws InterruptedException {
		synchronized (mine) {
			inside.countDown();
			inside.await();
			synchronized (other) {
				sink++;
			}
		}
	}

	interface Body {
		void run() throws InterruptedException;
	}

	static Thread start(String name, Body body) {
		Thread t = new Thread(() -> {
			try {
				body.run();
			} catch (InterruptedException e) {
				throw new AssertionError(e);
			}
		}, name);
		t.setDaemon(true);
		t.start();
		return t;
	}

	public static void main(String[] args) throws Exception {
		Object a = new Object(), b = new Object();
		Thread burner = start("burner", Open::burn);
		start("rester", Open::rest);
		start("first", () -> lock(a, b));
		start("second", () -> lock(b, a));
		inside.await();
		long begin = System.nanoTime();
		Thread.sleep(Long.parseLong(args[0]));
		var threads = java.lang.management.ManagementFactory.getThreadMXBean();
		System.out.println("cpu " + threads.getThreadCpuTime(burner.getId()));
		System.out.println("open " + (System.nanoTime() - begin));
		if (args.length > 1)
			Runtime.getRuntime().halt(3);
	}
}
