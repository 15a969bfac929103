// SPDX-License-Identifier: GPL-2.0-or-later
import java.util.ArrayList;
import java.util.List;

/**
 * What conditions of a recording look out for: each argument is something to do, one after the other.
 *
 *	early=MS, late=MS	spin so long in the method of that name
 *	oom			exhaust the heap once, and go on
 *	gc			three collections
 *	steady=MS		steps for so long, and prints how many, as t/expect-calls wants it
 *	many=MS			calls in ever new contexts for so long, and prints how many
 *	crash			get SIGSEGV, and wait for what comes of it
 *	serve=MS		a thousand calls of serve(), of which one sleeps so long
 *	refuse=MS		sleep so long in a method that an exception leaves, 20 calls deep
 *	ready			prints that
 *	exit=N			end with that status
 */
public class Flight {
	static volatile long sink;

	static void spin(long ms) {
		long end = System.nanoTime() + ms * 1000000;

		while (System.nanoTime() < end)
			for (int i = 0; i < 1000; i++)
				sink = sink * 31 + i;
	}

	static void early(long ms) {
		spin(ms);
	}

	static void late(long ms) {
		spin(ms);
	}

	static void exhaust() {
		List<byte[]> all = new ArrayList<>();

		try {
			for (;;)
				all.add(new byte[1 << 20]);
		} catch (OutOfMemoryError e) {
			all.clear();
		}
	}

	static void leaf(int i) {
		sink += i;
	}

	static void step(int i) {
		leaf(i);
		leaf(i + 1);
		for (int k = 0; k < 3000; k++)
			sink += k;
	}

	static void steady(long ms) {
		long end = System.nanoTime() + ms * 1000000;
		int n = 0;

		for (; System.nanoTime() < end; n++)
			step(n);
		System.out.println("total Flight.step " + n + "\ntotal Flight.leaf " + 2 * n +
			"\ntotal Flight.steady 1");
	}

	static long nr_calls, random = 1;

	static int random(int n) {
		random = random * 6364136223846793005L + 1442695040888963407L;
		return (int)((random >>> 40) % n);
	}

	static void next(int depth) {
		nr_calls++;
		if (depth == 0)
			return;
		switch (random(4)) {
		case 0: m0(depth - 1); break;
		case 1: m1(depth - 1); break;
		case 2: m2(depth - 1); break;
		default: m3(depth - 1);
		}
	}

	static void m0(int depth) { next(depth); }
	static void m1(int depth) { next(depth); }
	static void m2(int depth) { next(depth); }
	static void m3(int depth) { next(depth); }

	static void many(long ms) {
		long end = System.nanoTime() + ms * 1000000;

		while (System.nanoTime() < end)
			m0(12);
		System.out.println(nr_calls);
	}

	static void sleep(long ms) {
		try {
			Thread.sleep(ms);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	static void serve(long ms) {
		if (ms > 0)
			sleep(ms);
	}

	static void refuse(int depth, long ms) {
		if (depth > 0) {
			refuse(depth - 1, ms);
			return;
		}
		sleep(ms);
		throw new IllegalArgumentException();
	}

	static void refused(long ms) {
		try {
			refuse(20, ms);
		} catch (IllegalArgumentException e) {
			sink++;
		}
	}

	public static void main(String[] args) throws java.io.IOException {
		for (String arg : args) {
			String[] part = arg.split("=");
			int n = part.length > 1 ? Integer.parseInt(part[1]) : 0;

			switch (part[0]) {
			case "early": early(n); break;
			case "late": late(n); break;
			case "oom": exhaust(); break;
			case "gc": for (int i = 0; i < 3; i++) System.gc(); break;
			case "steady": steady(n); break;
			case "many": many(n); break;
			case "crash":
				new ProcessBuilder("kill", "-SEGV", "" + ProcessHandle.current().pid()).start();
				sleep(60000);
				break;
			case "serve": for (int i = 0; i < 1000; i++) serve(i == 500 ? n : 0); break;
			case "refuse": refused(n); refused(0); break;
			case "ready": System.out.println("ready"); break;
			case "exit": System.exit(n);
			}
		}
	}
}
