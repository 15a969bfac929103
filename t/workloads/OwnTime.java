// SPDX-License-Identifier: GPL-2.0-or-later
import arcprof.ThreadTime;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/*
 * Threads that measure themselves by arcprof.ThreadTime and by the JVM's own clock; prints the
 * worst difference in percent, and the back end.  Needs arcprof.jar.
 */
public class OwnTime {
	static final ThreadMXBean jvm = ManagementFactory.getThreadMXBean();
	static double worst;
	static volatile double sink;

	static void work(int rounds) {
		long[] values = new long[ThreadTime.NR_VALUES];
		long ours = ThreadTime.nanos(), theirs = jvm.getCurrentThreadCpuTime(), last = ours, now, irq;
		double x = 0;

		ThreadTime.read(values);
		irq = values[ThreadTime.IRQ_TIME_NS];
		for (int i = 1; i < rounds; i++) {
			for (int k = 1; k < 1000; k++)
				x += 1.0 / k;
			now = ThreadTime.nanos();
			if (now < last)
				throw new AssertionError("the time went back by " + (last - now));
			last = now;
		}
		sink = x;
		ThreadTime.read(values);
		ours = ThreadTime.nanos() - ours;
		theirs = jvm.getCurrentThreadCpuTime() - theirs;
		if (irq != ThreadTime.UNKNOWN)
			ours += values[ThreadTime.IRQ_TIME_NS] - irq;
		synchronized (OwnTime.class) {
			worst = Math.max(worst, Math.abs(100.0 * (ours - theirs) / theirs));
		}
	}

	public static void main(String[] args) throws Exception {
		Thread[] threads = new Thread[3];

		for (int i = 0; i < threads.length; i++) {
			int rounds = 20000 * (i + 1);

			threads[i] = new Thread(() -> work(rounds));
			threads[i].start();
		}
		for (Thread t : threads)
			t.join();
		try {
			ThreadTime.read(new long[3]);
			throw new AssertionError("a short array was taken");
		} catch (ArrayIndexOutOfBoundsException expected) {
		}
		long[] values = new long[ThreadTime.NR_VALUES];
		ThreadTime.process(values);
		if (values[ThreadTime.TIME_NS] <= 0)
			throw new AssertionError("the process consumed nothing");
		System.out.printf("%.3f %s%n", worst, ThreadTime.backend());
	}
}
