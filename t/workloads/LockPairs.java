import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.locks.ReentrantLock;

/** What it takes to lock and unlock, with nobody else: LockPairs block|method|lock ROUNDS; prints ns of CPU time a pair, the least. */
public class LockPairs {
	static final int TIMES = 100000;
	static final LockPairs it = new LockPairs();
	static final ReentrantLock lock = new ReentrantLock();
	int n;

	void block() {
		synchronized (this) {
			n++;
		}
	}

	synchronized void method() {
		n++;
	}

	void lock() {
		lock.lock();
		try {
			n++;
		} finally {
			lock.unlock();
		}
	}

	static void round(String kind) {
		switch (kind) {
		case "block":
			for (int i = 0; i < TIMES; i++)
				it.block();
			break;
		case "method":
			for (int i = 0; i < TIMES; i++)
				it.method();
			break;
		default:
			for (int i = 0; i < TIMES; i++)
				it.lock();
		}
	}

	public static void main(String[] args) {
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();
		double least = Double.MAX_VALUE;

		for (int i = 0; i < Integer.parseInt(args[1]); i++) {
			long start = threads.getCurrentThreadCpuTime();
			round(args[0]);
			least = Math.min(least, (double) (threads.getCurrentThreadCpuTime() - start) / TIMES);
		}
		System.out.printf("%.2f%n", least);
	}
}
