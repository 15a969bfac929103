// SPDX-License-Identifier: GPL-2.0-or-later
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/** As many threads as the argument says, all alive at once, each with a few calls. */
public final class Crowd {
	static final AtomicLong sum = new AtomicLong();

	static void inner() { sum.incrementAndGet(); }

	static void outer() {
		inner();
		inner();
	}

	static void run(CountDownLatch here, CountDownLatch go) {
		outer();
		here.countDown();
		try {
			go.await();
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
		outer();
	}

	public static void main(String[] args) throws InterruptedException {
		int n = args.length > 0 ? Integer.parseInt(args[0]) : 10000;
		CountDownLatch here = new CountDownLatch(n), go = new CountDownLatch(1);
		Thread[] all = new Thread[n];

		for (int i = 0; i < n; i++) {
			all[i] = new Thread(null, () -> run(here, go), "c-" + i, 128 * 1024);
			all[i].start();
		}
		here.await();
		go.countDown();
		for (Thread t : all)
			t.join();
		System.out.println("total Crowd.run " + n);
		System.out.println("total Crowd.outer " + 2 * n);
		System.out.println("path Crowd.run;Crowd.outer;Crowd.inner " + 4 * n);
	}
}
