// SPDX-License-Identifier: GPL-2.0-or-later
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * LeafCalls WHAT MS: calls of native code, or of code that HotSpot wrote, which leave no word of where the thread is in
 * Java. Threads called "leaves" do so for that much CPU time each, by during() and a method of that name.
 */
public final class LeafCalls {
	static final Object lock = new Object();
	static long sum;

	/* Handed over each time, and so unlocked by the VM. */
	static void unlock() {
		for (int i = 0; i < 100; i++)
			synchronized (lock) {
				sum++;
				Thread.yield();
			}
	}

	static void call(String what) {
		switch (what) {
		case "unlock":
			unlock();
			break;
		}
	}

	static void during(String what, long ms) {
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();

		while (threads.getCurrentThreadCpuTime() < ms * 1_000_000)
			call(what);
	}

	public static void main(String[] args) throws InterruptedException {
		Thread[] threads = new Thread[args[0].equals("unlock") ? 4 : 1];

		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(() -> during(args[0], Long.parseLong(args[1])), "leaves");
			threads[i].start();
		}
		for (Thread t : threads)
			t.join();
	}
}
