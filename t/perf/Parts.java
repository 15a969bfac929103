import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Parts SECONDS: runs two loops in turns, one of integers and one of floating point, and prints which percent of
 * the CPU time of both the first one had by the thread's own clock, from when they were compiled on, and when that
 * was, in seconds since the program began.
 * Parts CALLS calls: calls a small method so often, ten times, and prints the nanoseconds of CPU time a call took,
 * the least of the ten.
 */
public class Parts {
	static final int WARM = 300;
	static volatile long sink;
	static final double[] values = new double[4096];

	static long integers(int n) {
		long x = n;
		for (int i = 0; i < n; i++)
			x = x * 6364136223846793005L + 1442695040888963407L;
		return x;
	}

	static double reals(int n) {
		double s = 0;
		for (int k = 0; k < n; k++)
			for (int i = 0; i < values.length; i++)
				s += values[i] * k + Math.sqrt(values[i] + k);
		return s;
	}

	static long step(long x) {
		return x * 31 + (x >>> 7);
	}

	static void calls(ThreadMXBean clock, int nr) {
		double least = Double.MAX_VALUE;
		for (int turn = 0; turn < 10; turn++) {
			long x = turn, begin = clock.getCurrentThreadCpuTime();
			for (int i = 0; i < nr; i++)
				x = step(x);
			least = Math.min(least, (double)(clock.getCurrentThreadCpuTime() - begin) / nr);
			sink += x;
		}
		System.out.printf("%.2f%n", least);
	}

	public static void main(String[] args) {
		ThreadMXBean clock = ManagementFactory.getThreadMXBean();
		long begin = ManagementFactory.getRuntimeMXBean().getStartTime(), warm = 0;
		long end = System.nanoTime() + (long)(Double.parseDouble(args[0]) * 1e9), first = 0, second = 0;

		if (args.length > 1) {
			calls(clock, Integer.parseInt(args[0]));
			return;
		}
		for (int i = 0; i < values.length; i++)
			values[i] = i;
		for (int turn = 0; System.nanoTime() < end; turn++) {
			long a = clock.getCurrentThreadCpuTime();
			sink += integers(3_000_000);
			long b = clock.getCurrentThreadCpuTime();
			sink += (long)reals(200);
			long c = clock.getCurrentThreadCpuTime();
			if (turn == WARM)
				warm = System.currentTimeMillis() - begin;
			if (turn > WARM) {
				first += b - a;
				second += c - b;
			}
		}
		System.out.printf("%.2f %.3f%n", 100.0 * first / (first + second), warm / 1e3);
	}
}
