// SPDX-License-Identifier: GPL-2.0-or-later
import java.lang.management.ManagementFactory;

/** Recurses 12000 deep again and again, for args[0] rounds; prints the CPU time in ns that this took its thread. */
public class Deepest {
	static int start;

	static int down(int n) {
		return n == 0 ? start : down(n - 1) + 1;
	}

	public static void main(String[] args) throws InterruptedException {
		int rounds = Integer.parseInt(args[0]);
		Thread t = new Thread(null, () -> {
			for (int i = 0; i < rounds; i++)
				start = down(12000) & 1;
			System.out.println(ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime());
		}, "deepest", 1L << 28);

		t.start();
		t.join();
	}
}
