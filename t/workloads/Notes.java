// SPDX-License-Identifier: GPL-2.0-or-later
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

/*
 * Phases that C2 all inlines into main(), one of them with boxed numbers: what the compiler notes of its
 * instructions has, for most of those that optimisations make, the place of such a box. Prints each phase's CPU time
 * in microseconds by the thread's own clock.
 *
 *	java Notes <milliseconds>
 */
public final class Notes {
	static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
	static final Random random = new Random(1);
	static long sink;

	/*
	 * Asks for the time again and again: a call that has no note of its own. Not equally often, so that no clock is
	 * in step with what is done.
	 */
	static void poll() {
		for (int n = random.nextInt(8000); n > 0; n--)
			sink += System.nanoTime() & 1;
	}

	static int box(Map<Integer, Integer> counts) {
		for (int i = 0; i < 40; i++)
			counts.merge(i % 7, 1, Integer::sum);
		return counts.size();
	}

	static int hash(int[] row) {
		int h = 17;

		for (int r = 0; r < 10; r++)
			for (int i = 0; i < row.length; i++) {
				h = h * 31 + row[i];
				if ((h & 7) == 3)
					h ^= h >>> 11;
			}
		return h;
	}

	static double multiply(double[] a) {
		double sum = 0;

		for (int i = 0; i < 8; i++)
			for (int j = 0; j < 64; j++)
				for (int k = 0; k < 16; k++)
					sum += a[i * 16 + k] * a[k * 64 + j];
		return sum;
	}

	public static void main(String[] args) {
		final long end = System.nanoTime() + Long.parseLong(args[0]) * 1000000;
		long[] spent = new long[4];
		int[] row = new int[64];
		double[] a = new double[1024];

		while (System.nanoTime() < end) {
			long t0 = threads.getCurrentThreadCpuTime();
			poll();
			long t1 = threads.getCurrentThreadCpuTime();
			row[0]++;
			for (int i = 0; i < 25; i++)
				sink += hash(row);
			long t2 = threads.getCurrentThreadCpuTime();
			for (int i = 0; i < 4; i++)
				sink += (long)multiply(a);
			long t3 = threads.getCurrentThreadCpuTime();
			sink += box(new HashMap<>());
			long t4 = threads.getCurrentThreadCpuTime();
			spent[0] += t1 - t0;
			spent[1] += t2 - t1;
			spent[2] += t3 - t2;
			spent[3] += t4 - t3;
		}
		System.out.println("poll " + spent[0] / 1000);
		System.out.println("hash " + spent[1] / 1000);
		System.out.println("multiply " + spent[2] / 1000);
		System.out.println("box " + spent[3] / 1000);
	}
}
