// SPDX-License-Identifier: GPL-2.0-or-later
import java.lang.reflect.Method;
import java.util.concurrent.locks.ReentrantLock;

/* Computes, allocates, waits for a monitor, for a lock and in Object.wait(), throws, collects, labels and marks. */
public class Facts {
	static final Object monitor = new Object();
	static final ReentrantLock lock = new ReentrantLock();
	static volatile long sink;

	static void burn(long ms) {
		long end = System.nanoTime() + ms * 1_000_000, x = sink;

		while (System.nanoTime() < end)
			for (int i = 0; i < 10_000; i++)
				x = x * 6364136223846793005L + 1442695040888963407L;
		sink = x;
	}

	static void request(int i) throws Exception {
		byte[][] kept = new byte[200][];

		for (int k = 0; k < kept.length; k++)
			kept[k] = new byte[8192];
		synchronized (monitor) {
			burn(3);
		}
		lock.lock();
		try {
			Thread.sleep(3);
		} finally {
			lock.unlock();
		}
		try {
			throw new IllegalStateException("request " + i);
		} catch (IllegalStateException e) {
			sink += kept.length;
		}
	}

	static void serve(int id) {
		String trace = String.format("%032x", 0xabcdef0000L + id), span = String.format("%016x", 0x1230 + id);

		try {
			Class<?> label = Class.forName("arcprof.Label"), mark = Class.forName("arcprof.Mark");
			Method set = label.getMethod("set", String.class, String.class);

			try (AutoCloseable a = (AutoCloseable)set.invoke(null, "endpoint", id == 0 ? "/cart" : "/search");
			     AutoCloseable b = (AutoCloseable)set.invoke(null, "trace-id", trace);
			     AutoCloseable c = (AutoCloseable)set.invoke(null, "span-id", span)) {
				for (int i = 0; i < 6; i++)
					request(i);
			}
			mark.getMethod("set").invoke(mark.getConstructor(String.class).newInstance("served"));
		} catch (Exception e) {
			throw new RuntimeException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		Thread[] t = new Thread[2];

		for (int i = 0; i < t.length; i++) {
			int id = i;

			t[i] = new Thread(() -> serve(id), "server " + i + " \uD83D\uDE00");
			t[i].start();
		}
		for (Thread x : t)
			x.join();
		System.gc();
		synchronized (monitor) {
			monitor.wait(10);
		}
	}
}
