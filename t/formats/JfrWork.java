// SPDX-License-Identifier: GPL-2.0-or-later
// Computes, allocates, sleeps, waits for a monitor and parks for some milliseconds; the recording that runs gets a
// second chunk in between, and an event with numbers of each type.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.StackTrace;
import jdk.jfr.Unsigned;

class JfrWork {
	@Name("work.Numbers")
	@StackTrace(false)
	private static class Numbers extends Event {
		byte small = -3;
		@Unsigned byte large = (byte)200;
		short low = -7;
		char letter = '\uac00';
		@Unsigned int most = -1;
		@Unsigned long whole = -1;
		boolean yes = true;
		int unknown = Integer.MIN_VALUE;
	}

	private static final Object lock = new Object();
	private static long sink;

	private static int fib(int n) {
		return n < 2 ? n : fib(n - 1) + fib(n - 2);
	}

	private static void work(long end) {
		try {
			while (System.nanoTime() < end) {
				List<byte[][]> list = new ArrayList<>();

				for (int i = 0; i < 500; i++)
					list.add(new byte[4][256]);
				synchronized (lock) {
					sink += fib(22) + list.size();
					Thread.sleep(12);
				}
				LockSupport.parkNanos(new Object(), 12000000);
			}
		} catch (InterruptedException e) {
			throw new RuntimeException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		long start = System.nanoTime(), ns = Long.parseLong(args[0]) * 1000000, end = start + ns;
		Thread[] threads = new Thread[2];

		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(() -> work(end), "worker \u00e9\u4e2d " + i);
			threads[i].start();
		}
		while (System.nanoTime() < start + ns / 2)
			sink += fib(20);
		try (Recording other = new Recording()) {
			other.start();
		}
		new Numbers().commit();
		while (System.nanoTime() < end)
			sink += fib(20);
		for (Thread t : threads)
			t.join();
		synchronized (lock) {
			lock.wait(25);
		}
	}
}
