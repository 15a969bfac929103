// SPDX-License-Identifier: GPL-2.0-or-later

/**
 * The second acceptance program: a tree of methods whose names say which share of all the time is
 * spent beneath them.
 *
 *	mainA30 -> AA10, AB20	mainB70 -> BA30, BB40
 *
 * AA10 and BA30 work in a loop of their own; AB20 and BB40 leave the same work to small calls of
 * "grain" steps each, so what it costs to measure a call adds to their shares and to no other.
 * Arguments: rounds, grain.
 */
public final class TreeTest {
	static final int STEPS = 40000;		/* a percent of a round */
	static long sink = 1;

	static long work(long x, int steps) {
		for (int i = 0; i < steps; i++) {
			x ^= x << 13;
			x ^= x >>> 7;
			x ^= x << 17;
		}
		return x;
	}

	static void AA10(int grain) {
		long x = sink;

		for (int i = 0; i < 10 * STEPS; i++) {
			x ^= x << 13;
			x ^= x >>> 7;
			x ^= x << 17;
		}
		sink = x;
	}

	static void AB20(int grain) {
		for (int i = 0; i < 20 * STEPS; i += grain)
			sink = work(sink, grain);
	}

	static void BA30(int grain) {
		long x = sink;

		for (int i = 0; i < 30 * STEPS; i++) {
			x ^= x << 13;
			x ^= x >>> 7;
			x ^= x << 17;
		}
		sink = x;
	}

	static void BB40(int grain) {
		for (int i = 0; i < 40 * STEPS; i += grain)
			sink = work(sink, grain);
	}

	static void mainA30(int grain) {
		AA10(grain);
		AB20(grain);
	}

	static void mainB70(int grain) {
		BA30(grain);
		BB40(grain);
	}

	public static void main(String[] args) {
		int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 100;
		int grain = args.length > 1 ? Integer.parseInt(args[1]) : 1000;

		for (int i = 0; i < rounds; i++) {
			mainA30(grain);
			mainB70(grain);
		}
		System.out.println("done " + rounds);
	}
}
