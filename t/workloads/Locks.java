import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Threads that wait for locks, in ways that are known: "Locks KIND...", each "PLAN" or "PLAN:N".
 *
 *	xy-ab	a deadlock of two threads: x and y are p (platform) or v (virtual), a and b the two locks, m (monitor),
 *		r (ReentrantLock) or w (the lock for writing of a ReentrantReadWriteLock). Thread "xy-ab 1" has a and
 *		wants b, "xy-ab 2" has b and wants a.
 *	ring:N	a deadlock of N platform threads, each with a monitor that the one before it wants
 *	behind	a thread "behind" that wants the first lock of the kind before it
 *	upgrade	a thread "upgrade" that has a ReentrantReadWriteLock for reading and wants it for writing, which it
 *		never gets; "reader" has it for reading, too, and came before
 *	timed	as pp-rr, but both give up after an hour
 *	busy:N	N threads that take two locks of all kinds in the same order, and give them back, without end; each
 *		rests a millisecond now and then
 *	idle:N	N platform threads that sleep, vidle:N virtual ones
 *
 * Prints "ready" when all that wait do, and ends with its standard input.
 */
class Locks {
	static Object firstLock;
	static volatile long turns;

	static Thread start(boolean virtual, String name, Runnable r) throws Exception {
		Thread t;
		if (virtual) {
			Object builder = Thread.class.getMethod("of" + "Virtual").invoke(null);
			Class<?> c = Class.forName("java.lang.Thread$Builder");
			builder = c.getMethod("name", String.class).invoke(builder, name);
			t = (Thread) c.getMethod("start", Runnable.class).invoke(builder, r);
		} else {
			t = new Thread(r, name);
			t.setDaemon(true);
			t.start();
		}
		return t;
	}

	static Object lock(char kind) {
		switch (kind) {
		case 'r': return new ReentrantLock();
		case 'w': return new ReentrantReadWriteLock().writeLock();
		default: return new Object();
		}
	}

	static void with(Object lock, Runnable r) {
		if (lock instanceof Lock) {
			Lock l = (Lock) lock;
			l.lock();
			try {
				r.run();
			} finally {
				l.unlock();
			}
		} else {
			synchronized (lock) {
				r.run();
			}
		}
	}

	static void meet(CountDownLatch all) {
		all.countDown();
		try {
			all.await();
		} catch (InterruptedException e) {
			throw new Error(e);
		}
	}

	static void first(Object mine, Object other, CountDownLatch both) {
		with(mine, () -> { meet(both); with(other, () -> { }); });
	}

	static void cycle(String plan) throws Exception {
		Object a = lock(plan.charAt(3)), b = lock(plan.charAt(4));
		CountDownLatch both = new CountDownLatch(2);
		firstLock = a;
		start(plan.charAt(0) == 'v', plan + " 1", () -> first(a, b, both));
		start(plan.charAt(1) == 'v', plan + " 2", () -> first(b, a, both));
	}

	static void ring(int n) throws Exception {
		Object[] locks = new Object[n];
		CountDownLatch all = new CountDownLatch(n);
		for (int i = 0; i < n; i++)
			locks[i] = new Object();
		for (int i = 0; i < n; i++) {
			Object mine = locks[i], next = locks[(i + 1) % n];
			start(false, "ring " + i, () -> first(mine, next, all));
		}
	}

	static void upgrade() throws Exception {
		ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
		CountDownLatch first = new CountDownLatch(1);
		start(false, "reader", () -> with(lock.readLock(), () -> { first.countDown(); sleep(3600000); }));
		first.await();
		start(false, "upgrade", () -> with(lock.readLock(), () -> with(lock.writeLock(), () -> { })));
	}

	static void timed() throws Exception {
		ReentrantLock a = new ReentrantLock(), b = new ReentrantLock();
		CountDownLatch both = new CountDownLatch(2);
		for (int i = 1; i <= 2; i++) {
			ReentrantLock mine = i == 1 ? a : b, other = i == 1 ? b : a;
			start(false, "timed " + i, () -> {
				mine.lock();
				meet(both);
				try {
					other.tryLock(1, java.util.concurrent.TimeUnit.HOURS);
				} catch (InterruptedException e) {
					throw new Error(e);
				}
			});
		}
	}

	static void busy(int n, boolean virtual) throws Exception {
		Object[] locks = { new Object(), new ReentrantLock(), new Object(), new ReentrantLock() };
		for (int i = 0; i < n; i++) {
			int from = i % 3;
			start(virtual && i % 2 == 0, "busy " + i, () -> {
				for (;;) {
					for (int k = 0; k < 2000; k++)
						with(locks[from], () -> with(locks[from + 1], () -> turns++));
					sleep(1);
				}
			});
		}
	}

	static void sleep(long ms) {
		try {
			Thread.sleep(ms);
		} catch (InterruptedException e) {
			throw new Error(e);
		}
	}

	static void go(String kind, int n, boolean hasVirtual) throws Exception {
		switch (kind) {
		case "ring": ring(n); break;
		case "timed": timed(); break;
		case "upgrade": upgrade(); break;
		case "busy": busy(n, hasVirtual); break;
		case "behind":
			Object lock = firstLock;
			Thread.sleep(100);
			start(false, "behind", () -> with(lock, () -> { }));
			break;
		case "idle": case "vidle":
			for (int i = 0; i < n; i++)
				start(kind.equals("vidle"), kind + " " + i, () -> sleep(3600000));
			break;
		default: cycle(kind);
		}
	}

	public static void main(String[] args) throws Exception {
		boolean hasVirtual = Runtime.version().feature() >= 21;
		for (String a : args) {
			String[] p = a.split(":");
			go(p[0], p.length > 1 ? Integer.parseInt(p[1]) : 1, hasVirtual);
		}
		Thread.sleep(300);
		System.out.println("ready");
		while (System.in.read() >= 0)
			;
		System.exit(0);
	}
}
