// SPDX-License-Identifier: MIT
import arcprof.ThreadTime;

/*
 * What a piece of Java code costs its thread.
 *
 *	javac -cp arcprof.jar ThreadTimeExample.java
 *	java -cp arcprof.jar:. -Djava.library.path=/usr/local/lib ThreadTimeExample
 */
public class ThreadTimeExample {
	static double work() {
		double x = 0;

		for (int i = 1; i < 30_000_000; i++)
			x += 1.0 / i;
		return x;
	}

	public static void main(String[] args) {
		long[] before = new long[ThreadTime.NR_VALUES], after = new long[ThreadTime.NR_VALUES];
		long start = ThreadTime.nanos();

		ThreadTime.read(before);
		work();
		ThreadTime.read(after);
		System.out.printf("%s: %.3f ms", ThreadTime.backend(), (ThreadTime.nanos() - start) / 1e6);
		if (after[ThreadTime.INTERRUPTS] != ThreadTime.UNKNOWN)
			System.out.printf(", and %.3f ms in %d interrupts",
				(after[ThreadTime.IRQ_TIME_NS] - before[ThreadTime.IRQ_TIME_NS]) / 1e6,
				after[ThreadTime.INTERRUPTS] - before[ThreadTime.INTERRUPTS]);
		System.out.println();
	}
}
