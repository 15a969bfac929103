/*
 * Skynet: a virtual thread starts ten, each of these ten, and so on, until there are N that have a number each;
 * the sums come back the same way. N is a power of ten; a million make 1111111 threads.
 */
public class Skynet {
	static void join(Thread t) {
		try {
			t.join();
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	static long sum(long first, int n) {
		final long[] sums = new long[10];
		Thread[] threads = new Thread[10];
		long all = 0;

		if (n == 1)
			return first;
		for (int i = 0; i < 10; i++) {
			final int at = i;
			threads[i] = Thread.ofVirtual().start(() -> sums[at] = sum(first + (long)at * (n / 10), n / 10));
		}
		for (int i = 0; i < 10; i++) {
			join(threads[i]);
			all += sums[i];
		}
		return all;
	}

	public static void main(String[] args) {
		int n = Integer.parseInt(args[0]);

		if (sum(0, n) != (long)n * (n - 1) / 2)
			throw new IllegalStateException("a wrong sum");
	}
}
