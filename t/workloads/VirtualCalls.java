// SPDX-License-Identifier: GPL-2.0-or-later
import java.util.concurrent.atomic.AtomicLong;

/**
 * Virtual threads that give way in the middle of calls, a thousand times each; prints what must have
 * been counted as Calls does. Arguments: threads, rounds.
 */
public final class VirtualCalls {
	static final AtomicLong steps = new AtomicLong();

	static final class Stop extends RuntimeException {
		Stop() { super(null, null, false, false); }
	}

	static long step(long x) {
		for (int i = 0; i < 500; i++)
			x = x * 6364136223846793005L + 1442695040888963407L;
		return x;
	}

	static long inner(long x) {
		x = step(x);
		Thread.yield();
		return step(x);
	}

	static long outer(long x) { return inner(x) + 1; }

	static void fails() {
		Thread.yield();
		throw new Stop();
	}

	static void failing() {
		try {
			fails();
		} finally {
			step(1);
		}
	}

	static void run(int rounds) {
		long x = 1;

		for (int i = 0; i < rounds; i++) {
			x = outer(x);
			if (i % 10 == 0)
				try {
					failing();
				} catch (Stop s) {
					x++;
				}
		}
		steps.addAndGet(x);
	}

	public static void main(String[] args) throws InterruptedException {
		int threads = args.length > 0 ? Integer.parseInt(args[0]) : 200;
		int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 1000;
		Thread[] all = new Thread[threads];
		long calls = (long) threads * rounds, failures = (long) threads * ((rounds + 9) / 10);

		for (int i = 0; i < threads; i++)
			all[i] = Thread.ofVirtual().name("v-" + i).start(() -> run(rounds));
		for (Thread t : all)
			t.join();
		System.out.println("total VirtualCalls.run " + threads);
		System.out.println("total VirtualCalls.outer " + calls);
		System.out.println("total VirtualCalls.inner " + calls);
		System.out.println("total VirtualCalls.step " + (2 * calls + failures));
		System.out.println("total VirtualCalls.failing " + failures);
		System.out.println("total VirtualCalls$Stop.<init> " + failures);
		System.out.println("path VirtualCalls.run;VirtualCalls.outer;VirtualCalls.inner;VirtualCalls.step " + 2 * calls);
		System.out.println("path VirtualCalls.run;VirtualCalls.failing;VirtualCalls.step " + failures);
		System.out.println("path VirtualCalls.run;VirtualCalls.failing;VirtualCalls.fails;VirtualCalls$Stop.<init> " + failures);
	}
}
