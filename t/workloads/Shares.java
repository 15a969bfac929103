// SPDX-License-Identifier: GPL-2.0-or-later

/**
 * Spends its CPU time in five methods in the proportion 16:8:4:2:1, half of it directly
 * and half in a callee that they share; prints the shares it caused.
 */
public class Shares {
	static long sink;

	static long shared(long n) {
		long x = n;
		while (n-- > 0)
			x = x * 6364136223846793005L + 1442695040888963407L;
		return x;
	}

	static long sixteen(long n) {
		long x = n, i = n;
		while (i-- > 0)
			x = x * 6364136223846793005L + 1442695040888963407L;
		return x + shared(n);
	}

	static long eight(long n) {
		long x = n, i = n;
		while (i-- > 0)
			x = x * 6364136223846793005L + 1442695040888963407L;
		return x + shared(n);
	}

	static long four(long n) {
		long x = n, i = n;
		while (i-- > 0)
			x = x * 6364136223846793005L + 1442695040888963407L;
		return x + shared(n);
	}

	static long two(long n) {
		long x = n, i = n;
		while (i-- > 0)
			x = x * 6364136223846793005L + 1442695040888963407L;
		return x + shared(n);
	}

	static long one(long n) {
		long x = n, i = n;
		while (i-- > 0)
			x = x * 6364136223846793005L + 1442695040888963407L;
		return x + shared(n);
	}

	public static void main(String[] args) {
		int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
		long unit = 1000000;

		for (int i = 0; i < rounds; i++) {
			sink += sixteen(16 * unit / 10);
			sink += eight(8 * unit / 10);
			sink += four(4 * unit / 10);
			sink += two(2 * unit / 10);
			sink += one(unit / 10);
		}
		System.out.println("sixteen 51.61 eight 25.81 four 12.90 two 6.45 one 3.23 shared 50.00 " + (sink == 0));
	}
}
