// SPDX-License-Identifier: GPL-2.0-or-later

import java.util.Random;
import java.util.zip.Deflater;

/** Threads, each with calls that are known, for args[0] seconds; prints "ready" when they run. */
public class Chained {
	static volatile boolean stop;
	static volatile long sink;

	static long work(long x, int n) {
		for (int i = 0; i < n; i++) {
			x = x * 6364136223846793005L + 1442695040888963407L;
			x ^= x >>> 17;
		}
		return x;
	}

	static long third(long x) {
		return work(x, 400) + work(x, 300);
	}

	static long second(long x) {
		return third(x) + third(x + 1);
	}

	static long first(long x) {
		return second(x) + 1;
	}

	static void chain() {
		long x = 1;

		while (!stop)
			x = first(x);
		sink = x;
	}

	static long down(int n, long x) {
		return n == 0 ? work(x, 3000) : down(n - 1, x + n) + n;
	}

	static void recursion() {
		long x = 1;

		while (!stop)
			x = down(60, x);
		sink = x;
	}

	static int throwing(int n) {
		if (n == 0)
			throw new IllegalStateException();
		return throwing(n - 1) + 1;
	}

	static void natives() {
		byte[] from = new byte[4096], to = new byte[8192];
		Deflater d = new Deflater();
		long x = 0;

		new Random(3).nextBytes(from);
		while (!stop) {
			try {
				x += throwing(10);
			} catch (IllegalStateException e) {
				x += e.getStackTrace().length;
			}
			d.reset();
			d.setInput(from);
			d.finish();
			x += d.deflate(to) + System.identityHashCode(new Object());
		}
		sink = x;
	}

	public static void main(String[] args) throws InterruptedException {
		Thread[] threads = {
			new Thread(Chained::chain, "chain"), new Thread(Chained::recursion, "recursion"),
			new Thread(Chained::natives, "natives"),
		};

		for (Thread t : threads)
			t.start();
		System.out.println("ready");
		Thread.sleep((long) (Double.parseDouble(args[0]) * 1000));
		stop = true;
		for (Thread t : threads)
			t.join();
	}
}
