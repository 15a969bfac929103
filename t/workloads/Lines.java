// SPDX-License-Identifier: GPL-2.0-or-later

/**
 * Spends nine tenths of its CPU time in one method and one tenth in another, nearly all of each in one
 * line; prints the methods, their lines and their shares.
 */
public class Lines {
	static long sink;

	static long hot(long n) {
		long x = n;
		while (n-- > 0)
			x = x * 6364136223846793005L + (x >>> 33) * 1442695040888963407L / (n | 1);
		return x;
	}

	static long cold(long n) {
		long x = n;
		while (n-- > 0)
			x = x * 6364136223846793005L + (x >>> 33) * 1442695040888963407L / (n | 1);
		return x;
	}

	public static void main(String[] args) {
		long rounds = args.length > 0 ? Long.parseLong(args[0]) : 100;
		for (long i = 0; i < rounds; i++) {
			sink += hot(900_000);
			sink += cold(100_000);
		}
		System.out.println("hot 13 90");
		System.out.println("cold 20 10");
	}
}
