// SPDX-License-Identifier: GPL-2.0-or-later
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * What a call costs: recursion and a loop over a leaf, in rounds; prints the nanoseconds of CPU time a call
 * of the fastest round of each. Argument: rounds.
 */
public final class Pairs {
	static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

	static final int FIB = 27;
	static final long FIB_CALLS = 832039;	/* 2 fib(28) - 1 */

	static int leaf(int x) { return x * 31 + 7; }

	static final int LEAVES = 1000000;

	static int loop() {
		int x = 1;

		for (int i = 0; i < LEAVES; i++)
			x = leaf(x);
		return x;
	}

	static int sink;

	public static void main(String[] args) {
		int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 40;
		ThreadMXBean bean = ManagementFactory.getThreadMXBean();
		long recursion = Long.MAX_VALUE, loop = Long.MAX_VALUE;

		for (int i = 0; i < rounds; i++) {
			long t0 = bean.getCurrentThreadCpuTime();
			sink += fib(FIB);
			long t1 = bean.getCurrentThreadCpuTime();
			sink += loop();
			long t2 = bean.getCurrentThreadCpuTime();
			recursion = Math.min(recursion, t1 - t0);
			loop = Math.min(loop, t2 - t1);
		}
		System.out.printf("recursion %.2f%nleaf %.2f%n", (double) recursion / FIB_CALLS, (double) loop / LEAVES);
	}
}
