// SPDX-License-Identifier: GPL-2.0-or-later
/** A JVM that comes, computes for a while, and goes: Passing MILLISECONDS-OF-CPU MILLISECONDS-IN-ALL. */
public final class Passing {
	static int sink;

	static void burn(long ms) {
		for (long end = System.nanoTime() + ms * 1_000_000; System.nanoTime() < end; )
			for (int i = 0; i < 10_000; i++)
				sink += i;
	}

	public static void main(String[] args) throws InterruptedException {
		long burn = Long.parseLong(args[0]), all = Long.parseLong(args[1]);

		burn(burn / 2);
		Thread.sleep(all - burn);
		burn(burn - burn / 2);
	}
}
