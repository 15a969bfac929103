import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Threads that wait for a lock and say for how long, by nanoTime():
 *	LockWaits KIND p|v THREADS TIMES MICROSECONDS	monitor, lock, wait or condition; on platform or virtual threads
 *	LockWaits held KIND MILLISECONDS			a thread "holder" has it while three others wait, once each
 *	LockWaits owners KIND p|v TIMES			a thread "holder" has it in sleeper(), and as often in spinner(),
 *							while another waits; prints "sleeper NS spinner NS"
 *	LockWaits readers MILLISECONDS			"reader-1" and "reader-2" have it for reading while "writer"
 *							waits: both so long in readsFirst(), then one as long in
 *							readsOn()
 *	LockWaits initialise p|v THREADS MILLISECONDS	so many wait for a thread "initialiser", which initialises a
 *							class for so long
 *	LockWaits open MILLISECONDS			a daemon thread waits so long, and on, in waitForKeeper() for
 *							what another has in keeper(); says "waiting" before
 * Prints "waits N ns SUM": of monitors and locks those that took more than 20 us, others all. With 0
 * microseconds the lock is held while others run (Thread.yield()): nearly every enter has to wait.
 */
public class LockWaits {
	static final class Monitor { }

	static final Monitor monitor = new Monitor();
	static final ReentrantLock lock = new ReentrantLock();
	static final Condition condition = lock.newCondition();
	static final LongAdder nr = new LongAdder(), sum = new LongAdder();
	static long spun;

	static void spin(long ns) {
		long start = System.nanoTime();

		while (System.nanoTime() - start < ns)
			spun++;
	}

	static void hold(long us) throws InterruptedException {
		if (us == 0)
			Thread.yield();
		else if (us >= 100)
			Thread.sleep(us / 1000, (int) (us % 1000) * 1000);
		else
			spin(us * 1000);
	}

	static void told(long start, long least) {
		long ns = System.nanoTime() - start;

		if (ns > least) {
			nr.increment();
			sum.add(ns);
		}
	}

	static void monitor(long us) throws InterruptedException {
		long start = System.nanoTime();

		synchronized (monitor) {
			told(start, 20000);
			hold(us);
		}
	}

	static void lock(long us) throws InterruptedException {
		long start = System.nanoTime();

		lock.lock();
		try {
			told(start, 20000);
			hold(us);
		} finally {
			lock.unlock();
		}
	}

	static void await(long us) throws InterruptedException {
		synchronized (monitor) {
			long start = System.nanoTime();

			monitor.wait(us / 1000, (int) (us % 1000) * 1000);
			told(start, 0);
		}
	}

	static void condition(long us) throws InterruptedException {
		lock.lock();
		try {
			long start = System.nanoTime();

			condition.awaitNanos(us * 1000);
			told(start, 0);
		} finally {
			lock.unlock();
		}
	}

	static void once(String kind, long us) throws InterruptedException {
		switch (kind) {
		case "monitor":
			monitor(us);
			break;
		case "lock":
			lock(us);
			break;
		case "wait":
			await(us);
			break;
		default:
			condition(us);
		}
		if (us < 100)
			spin(us * 1000);
	}

	static Thread thread(boolean virtual, Runnable r, String name) throws Exception {
		if (!virtual)
			return new Thread(r, name);
		Object builder = Thread.class.getMethod("of" + "Virtual").invoke(null);
		return (Thread) Class.forName("java.lang.Thread$Builder").getMethod("unstarted", Runnable.class)
			.invoke(builder, r);
	}

	static volatile Thread[] waiters;

	/* However busy the machine is, all of them wait for it, and from then on for so long. */
	static void holdFromAllOn(long us) throws InterruptedException {
		while (waiters == null)
			Thread.sleep(1);
		for (Thread t : waiters)
			while (t.getState() != Thread.State.BLOCKED && t.getState() != Thread.State.WAITING)
				Thread.sleep(1);
		hold(us);
	}

	static void holder(String kind, CountDownLatch has, long us) throws InterruptedException {
		if (kind.equals("monitor")) {
			synchronized (monitor) {
				has.countDown();
				holdFromAllOn(us);
			}
		} else {
			lock.lock();
			has.countDown();
			holdFromAllOn(us);
			lock.unlock();
		}
	}

	interface Body {
		void run() throws InterruptedException;
	}

	static Runnable quietly(Body b) {
		return () -> {
			try {
				b.run();
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		};
	}

	static void held(String kind, long us) throws Exception {
		CountDownLatch has = new CountDownLatch(1);
		Thread[] all = new Thread[4];

		all[0] = thread(false, quietly(() -> holder(kind, has, us)), "holder");
		all[0].start();
		has.await();
		for (int i = 1; i < all.length; i++) {
			all[i] = thread(false, quietly(() -> once(kind, 1)), "waiter-" + i);
			all[i].start();
		}
		waiters = new Thread[] { all[1], all[2], all[3] };
		for (Thread t : all)
			t.join();
	}

	/* ---- two contexts that have it ---- */

	static final LongAdder[] madeWait = { new LongAdder(), new LongAdder() };
	static volatile int who;
	static volatile boolean wants;
	static volatile Thread waiter;

	static void sleeper() throws InterruptedException {
		who = 0;
		waitForWaiter();
		Thread.sleep(6);
	}

	static void spinner() throws InterruptedException {
		who = 1;
		waitForWaiter();
		spin(2000000);
	}

	/* Called with the lock. */
	static void waitForWaiter() {
		wants = true;
		while (waiter.getState() != Thread.State.BLOCKED && waiter.getState() != Thread.State.WAITING)
			Thread.onSpinWait();
	}

	static void enter(String kind, Body b) throws InterruptedException {
		if (kind.equals("monitor")) {
			synchronized (monitor) {
				b.run();
			}
			return;
		}
		lock.lock();
		try {
			b.run();
		} finally {
			lock.unlock();
		}
	}

	static void waitForBoth(String kind, int times) throws InterruptedException {
		for (int i = 0; i < 2 * times; i++) {
			while (!wants)
				Thread.onSpinWait();
			wants = false;
			long start = System.nanoTime();
			enter(kind, () -> madeWait[who].add(System.nanoTime() - start));
			synchronized (LockWaits.class) {
				LockWaits.class.notify();
				done++;
			}
		}
	}

	static int done;

	static void holdBoth(String kind, int times) throws InterruptedException {
		for (int i = 0; i < 2 * times; i++) {
			if (i % 2 == 0)
				enter(kind, LockWaits::sleeper);
			else
				enter(kind, LockWaits::spinner);
			synchronized (LockWaits.class) {
				while (done <= i)
					LockWaits.class.wait();
			}
		}
	}

	static void owners(String[] args) throws Exception {
		boolean virtual = args[2].equals("v");
		int times = Integer.parseInt(args[3]);
		Thread holder = thread(virtual, quietly(() -> holdBoth(args[1], times)), "holder");

		waiter = thread(virtual, quietly(() -> waitForBoth(args[1], times)), "waiter");
		waiter.start();
		holder.start();
		holder.join();
		waiter.join();
		System.out.println("sleeper " + madeWait[0].sum() + " spinner " + madeWait[1].sum());
	}

	/* ---- two that have it for reading ---- */

	static final ReentrantReadWriteLock both = new ReentrantReadWriteLock();

	static void readsFirst(CountDownLatch has, CountDownLatch alone, long us) throws InterruptedException {
		both.readLock().lock();
		has.countDown();
		holdFromAllOn(us);
		both.readLock().unlock();
		alone.countDown();
	}

	static void readsOn(CountDownLatch has, CountDownLatch alone, long us) throws InterruptedException {
		both.readLock().lock();
		has.countDown();
		alone.await();
		hold(us);
		both.readLock().unlock();
	}

	static void writes() {
		long start = System.nanoTime();

		both.writeLock().lock();
		told(start, 0);
		both.writeLock().unlock();
	}

	static void readers(long us) throws Exception {
		CountDownLatch first = new CountDownLatch(1), second = new CountDownLatch(1);
		CountDownLatch alone = new CountDownLatch(1);
		Thread[] all = {
			thread(false, quietly(() -> readsFirst(first, alone, us)), "reader-1"),
			thread(false, quietly(() -> readsOn(second, alone, us)), "reader-2"),
			thread(false, LockWaits::writes, "writer"),
		};

		all[0].start();
		first.await();
		all[1].start();
		second.await();
		all[2].start();
		waiters = new Thread[] { all[2] };
		for (Thread t : all)
			t.join();
	}

	/* ---- a class that another thread initialises ---- */

	static final CountDownLatch begun = new CountDownLatch(1);
	static CountDownLatch used;		/* however busy the machine is, all of them wait */
	static long millis;

	static final class Slow {
		static long value;

		static {
			begun.countDown();
			try {
				used.await();
				Thread.sleep(millis);
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		}
	}

	static void useSlow() {
		used.countDown();

		long start = System.nanoTime();

		Slow.value++;
		told(start, 20000);
	}

	static void initialise(boolean virtual, int nr) throws Exception {
		Thread[] threads = new Thread[nr];
		Thread first = new Thread(() -> Slow.value++, "initialiser");
		int i;

		used = new CountDownLatch(nr);
		first.start();
		begun.await();
		for (i = 0; i < nr; i++) {
			threads[i] = thread(virtual, LockWaits::useSlow, "waiter" + i);
			threads[i].start();
		}
		for (Thread t : threads)
			t.join();
		first.join();
	}

	/* ---- one that never ends ---- */

	static void keeper(CountDownLatch has) throws InterruptedException {
		synchronized (monitor) {
			has.countDown();
			Thread.sleep(Long.MAX_VALUE);
		}
	}

	static void waitForKeeper() {
		synchronized (monitor) {
			nr.increment();
		}
	}

	static void open(long ms) throws Exception {
		CountDownLatch has = new CountDownLatch(1);
		Thread keeper = thread(false, quietly(() -> keeper(has)), "keeper");
		Thread waits = thread(false, quietly(LockWaits::waitForKeeper), "waits");

		keeper.setDaemon(true);
		waits.setDaemon(true);
		keeper.start();
		has.await();
		waits.start();
		while (waits.getState() != Thread.State.BLOCKED)
			Thread.sleep(1);
		long start = System.nanoTime();
		System.out.println("waiting");
		Thread.sleep(ms);
		nr.increment();
		sum.add(System.nanoTime() - start);
	}

	static void many(String[] args) throws Exception {
		Thread[] all = new Thread[Integer.parseInt(args[2])];
		int times = Integer.parseInt(args[3]);
		long us = Long.parseLong(args[4]);

		for (int i = 0; i < all.length; i++) {
			all[i] = thread(args[1].equals("v"), quietly(() -> {
				for (int k = 0; k < times; k++)
					once(args[0], us);
			}), "waiter-" + i);
			all[i].start();
		}
		for (Thread t : all)
			t.join();
	}

	public static void main(String[] args) throws Exception {
		if (args[0].equals("owners")) {
			owners(args);
			return;
		}
		if (args[0].equals("held"))
			held(args[1], Long.parseLong(args[2]) * 1000);
		else if (args[0].equals("readers"))
			readers(Long.parseLong(args[1]) * 1000);
		else if (args[0].equals("initialise")) {
			millis = Long.parseLong(args[3]);
			initialise(args[1].equals("v"), Integer.parseInt(args[2]));
		} else if (args[0].equals("open"))
			open(Long.parseLong(args[1]));
		else
			many(args);
		System.out.println("waits " + nr.sum() + " ns " + sum.sum());
	}
}
