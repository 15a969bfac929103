// SPDX-License-Identifier: GPL-2.0-or-later

/**
 * Allocates what it says: 20000 arrays of 1000 bytes in one method and 5000 of 2000 in another, in two
 * threads, with collections in between.
 */
public final class Alloc {
	static Object[] kept = new Object[64];

	static void small(int i) { kept[i & 63] = new byte[984]; }

	static void large(int i) { kept[i & 63] = new byte[1984]; }

	static void run() {
		for (int i = 0; i < 10000; i++) {
			small(i);
			if (i % 4 == 0)
				large(i);
			if (i == 5000)
				System.gc();
		}
	}

	public static void main(String[] args) throws InterruptedException {
		Thread t = new Thread(Alloc::run, "second");

		t.start();
		run();
		t.join();
	}
}
