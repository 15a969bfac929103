// SPDX-License-Identifier: GPL-2.0-or-later

/**
 * Half of its time in a small method that a compiler is told to inline, half in one that it is
 * told not to inline: -XX:CompileCommand=inline,Kinds.inlined
 * -XX:CompileCommand=dontinline,Kinds.called.
 */
public final class Kinds {
	static long inlined(long x) {
		for (int i = 0; i < 5000; i++) {
			x ^= x << 13;
			x ^= x >>> 7;
			x ^= x << 17;
		}
		return x;
	}

	static long called(long x) {
		for (int i = 0; i < 5000; i++) {
			x ^= x << 13;
			x ^= x >>> 7;
			x ^= x << 17;
		}
		return x;
	}

	static long both(long x) {
		return inlined(x) + called(x);
	}

	public static void main(String[] args) {
		int n = Integer.parseInt(args[0]);
		long x = 0;

		/* Compiled as a whole first, so that little is left on the interpreter's stack. */
		for (int i = 0; i < n; i++)
			x += both(x + i + 1);
		System.out.println(x);
	}
}
