// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * A method that calls itself so many times, and at the end of that, nowhere else, one that is compiled into it.
 * Prints a sum.
 */
public final class Depths {
	static final int DEPTH = 30;

	static int at;

	static int work() {	/* not to be inlined: so nothing of bottom() can be done before its turn */
		return at ^= 31;
	}

	static int bottom() {
		return work() + 1;
	}

	static int down(int n) {
		if (n == 0)
			return bottom();
		return down(n - 1) + 1;
	}

	public static void main(String[] args) {
		int sum = 0;

		for (int i = Integer.parseInt(args[0]) * 1000; i > 0; i--)
			sum += down(DEPTH);
		System.out.println(sum);
	}
}
