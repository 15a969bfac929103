// SPDX-License-Identifier: GPL-2.0-or-later
/** Burns CPU below args[0] calls of one method that each go through native code of the JVM. */
public class Reflected {
	static long sink;

	public static void down(int n) throws Exception {
		if (n > 0) {
			Reflected.class.getMethod("down", int.class).invoke(null, n - 1);
			sink++;
			return;
		}
		long end = System.nanoTime() + 400000000L;
		while (System.nanoTime() < end)
			for (int i = 0; i < 1000; i++)
				sink = sink * 31 + i;
	}

	public static void main(String[] args) throws Exception {
		down(Integer.parseInt(args[0]));
	}
}
