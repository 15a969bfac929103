// SPDX-License-Identifier: GPL-2.0-or-later
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A pool of eight threads with nothing to do, and one thread that works and sleeps: Idlers SECONDS. */
class Idlers {
	static byte[] kept;

	static void allocates() {
		for (int i = 0; i < 1000; i++)
			kept = new byte[4096];
	}

	static void work(long until) {
		while (System.nanoTime() < until) {
			allocates();
			try {
				Thread.sleep(10);
			} catch (InterruptedException e) {
				return;
			}
		}
	}

	public static void main(String[] args) throws Exception {
		long until = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
		ExecutorService pool = Executors.newFixedThreadPool(8);

		for (int i = 0; i < 8; i++)
			pool.submit(Idlers::allocates).get();
		Thread worker = new Thread(() -> work(until), "worker");
		worker.start();
		worker.join();
		pool.shutdown();
	}
}
