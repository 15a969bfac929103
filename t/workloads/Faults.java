// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Faults that the JVM turns into exceptions: so many null references are followed, or so often the stack overflows.
 * Prints how many were caught.
 */
public final class Faults {
	int field;

	static int read(Faults f) {
		return f.field;
	}

	static int nulls(int n) {
		int caught = 0;

		for (int i = 0; i < n; i++)
			try {
				read((i & 1) == 0 ? null : new Faults());
			} catch (NullPointerException e) {
				caught++;
			}
		return caught;
	}

	static int deep(int n) {
		return deep(n + 1) + 1;
	}

	static int overflows(int n) {
		int caught = 0;

		for (int i = 0; i < n; i++)
			try {
				deep(0);
			} catch (StackOverflowError e) {
				caught++;
			}
		return caught;
	}

	public static void main(String[] args) {
		int n = Integer.parseInt(args[1]);

		System.out.println(args[0].equals("nulls") ? nulls(n) : overflows(n));
	}
}
