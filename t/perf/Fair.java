import java.util.concurrent.locks.ReentrantLock;

/**
 * Fair TIMES THREADS [monitor]: threads that hand a fair lock over, or a monitor, on one CPU: nearly each of them
 * waits each time.
 */
public class Fair {
	static final ReentrantLock lock = new ReentrantLock(true);
	static final Object monitor = new Object();
	static int times;

	static void take() {
		lock.lock();
		try {
			/* until the others are there; then it is handed over */
			if (times++ % 1024 == 0 || !lock.hasQueuedThreads())
				Thread.yield();
		} finally {
			lock.unlock();
		}
	}

	/* Who is woken takes it before this thread wants it again. */
	static void enter() {
		synchronized (monitor) {
			times++;
			Thread.yield();
		}
		Thread.yield();
	}

	public static void main(String[] args) throws InterruptedException {
		int n = Integer.parseInt(args[0]);
		boolean monitors = args.length > 2;
		Thread[] threads = new Thread[Integer.parseInt(args[1])];

		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(() -> {
				for (int k = 0; k < n / threads.length; k++)
					if (monitors)
						enter();
					else
						take();
			});
			threads[i].start();
		}
		for (Thread t : threads)
			t.join();
	}
}
