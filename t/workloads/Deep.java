// SPDX-License-Identifier: GPL-2.0-or-later

/** Burns CPU below args[0] frames of one method. */
public class Deep {
	static long sink;

	static void down(int n) {
		if (n > 0) {
			down(n - 1);
			sink++;
			return;
		}
		long end = System.nanoTime() + 400000000L;
		while (System.nanoTime() < end)
			for (int i = 0; i < 1000; i++)
				sink = sink * 31 + i;
	}

	public static void main(String[] args) throws InterruptedException {
		int n = Integer.parseInt(args[0]);
		Thread t = new Thread(null, () -> down(n), "deep", 1L << 30);

		t.start();
		t.join();
	}
}
