import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * Threads that count, lock by lock, how often they get it, how often again while they have it, and how long they
 * have it. For each it prints "KIND CLASS NONREC REC HELD_NS":
 *	LockCounts p|v THREADS TIMES
 *	LockCounts notify		"notifier" notifies "waiter-1", who waits for longest, "everyone" then the other two,
 *					and "main" nobody; prints nothing, like
 *	LockCounts reads TIMES		has a lock for reading so often, and half as often again
 *	LockCounts stamped THREADS TIMES	has a StampedLock in all ways, and prints "WRITES READS HELD_NS"
 *	LockCounts cpu TIMES		has each of three locks so often for 5 ms: asleep, and for CPU time, by its own clock
 * and with a fourth argument "forever" it goes on without an end, and says "counting" first.
 */
public class LockCounts {
	static final class Count {
		final String name;
		long nonrec, rec, heldNs, depth, since;		/* under the lock */

		Count(String name) {
			this.name = name;
		}

		void got() {
			if (depth++ > 0) {
				rec++;
				return;
			}
			nonrec++;
			since = System.nanoTime();
		}

		void gives() {
			if (--depth == 0)
				heldNs += System.nanoTime() - since;
		}
	}

	static final class Block { }
	static final class Waited { }
	static final class Thrown { }

	static final Count block = new Count("enter LockCounts$Block"), waited = new Count("enter LockCounts$Waited"),
		thrown = new Count("enter LockCounts$Thrown"), method = new Count("enter LockCounts$Method"),
		statics = new Count("enter java.lang.Class"),
		lock = new Count("lock java.util.concurrent.locks.ReentrantLock$NonfairSync"),
		fair = new Count("lock java.util.concurrent.locks.ReentrantLock$FairSync"),
		write = new Count("lock java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync");
	static final Block aBlock = new Block();
	static final Waited aWaited = new Waited();
	static final Thrown aThrown = new Thrown();
	static final Method aMethod = new Method();
	static final ReentrantLock aLock = new ReentrantLock(), aFair = new ReentrantLock(true);
	static final Condition condition = aLock.newCondition();
	static final ReentrantReadWriteLock both = new ReentrantReadWriteLock();
	static long spun;

	static void spin(long ns) {
		long start = System.nanoTime();

		while (System.nanoTime() - start < ns)
			spun++;
	}

	static void blocks(int i) {
		synchronized (aBlock) {
			block.got();
			synchronized (aBlock) {
				block.got();
				spin(3000);
				block.gives();
			}
			if (i % 7 == 0)
				again(3);
			block.gives();
		}
	}

	/* By several returns, and recursively. */
	static int again(int n) {
		synchronized (aBlock) {
			block.got();
			try {
				if (n == 0)
					return 0;
				if (n % 2 == 0)
					return again(n - 1) + 1;
				return again(n - 1);
			} finally {
				block.gives();
			}
		}
	}

	static void throwsOut(int i) {
		try {
			synchronized (aThrown) {
				thrown.got();
				if (i % 3 == 0) {
					thrown.gives();
					throw new IllegalStateException();
				}
				thrown.gives();
			}
		} catch (IllegalStateException e) {
			synchronized (aThrown) {
				thrown.got();
				thrown.gives();
			}
		}
	}

	static final class Method {
		synchronized long outer(int i) {
			method.got();
			try {
				return i % 2 == 0 ? inner(i) : i;
			} finally {
				method.gives();
			}
		}

		private synchronized long inner(int i) {
			method.got();
			try {
				if (i % 10 == 0)
					throw new IllegalStateException();
				return i;
			} finally {
				method.gives();
			}
		}
	}

	static void methods(int i) {
		try {
			spun += aMethod.outer(i);
		} catch (IllegalStateException e) {
			spun++;
		}
	}

	static synchronized void inClass() {
		statics.got();
		spin(1000);
		statics.gives();
	}

	/* Gets it again after the wait: one more. */
	static void waits(int i) throws InterruptedException {
		synchronized (aWaited) {
			waited.got();
			synchronized (aWaited) {
				waited.got();
				if (i % 50 == 0) {
					long depth = waited.depth;
					waited.depth = 1;
					waited.gives();
					aWaited.wait(1);
					waited.got();
					waited.depth = depth;
					spin(20000);
				}
				waited.gives();
			}
			waited.gives();
		}
	}

	static void locks(int i) throws InterruptedException {
		aLock.lock();
		lock.got();
		if (aLock.tryLock()) {
			lock.got();
			if (i % 50 == 0) {
				lock.depth = 1;
				lock.gives();
				condition.awaitNanos(100000);
				lock.got();
				lock.depth = 2;
			}
			spin(2000);
			lock.gives();
			aLock.unlock();
		}
		lock.gives();
		aLock.unlock();
		if (aFair.tryLock()) {
			fair.got();
			fair.gives();
			aFair.unlock();
		}
		both.writeLock().lock();
		write.got();
		both.readLock().lock();
		both.writeLock().lock();
		write.got();
		write.gives();
		both.writeLock().unlock();
		write.gives();
		both.writeLock().unlock();
		both.readLock().unlock();
	}

	static void all(int times) {
		try {
			for (int i = 0; i < times; i++) {
				blocks(i);
				throwsOut(i);
				methods(i);
				inClass();
				waits(i);
				locks(i);
			}
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	static final class Asleep { }
	static final class Busy { }

	/* At least so much, and what it takes to look at the clock. */
	static void consume(ThreadMXBean threads, long ns) {
		long start = threads.getCurrentThreadCpuTime();

		while (threads.getCurrentThreadCpuTime() - start < ns)
			spun++;
	}

	static void consumes(int times) throws InterruptedException {
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();
		Asleep asleep = new Asleep();
		Busy busy = new Busy();

		consume(threads, 1);
		for (int i = 0; i < times; i++) {
			synchronized (asleep) {
				Thread.sleep(5);
			}
			synchronized (busy) {
				consume(threads, 5000000);
			}
			aLock.lock();
			consume(threads, 5000000);
			aLock.unlock();
		}
	}

	/* Reads n times, every second time within itself, and writes once. */
	static void reads(int n) {
		for (int i = 0; i < n; i++) {
			both.readLock().lock();
			if (i % 2 == 0) {
				both.readLock().lock();
				both.readLock().unlock();
			}
			both.readLock().unlock();
		}
		both.writeLock().lock();
		both.writeLock().unlock();
	}

	/* Of one that has a StampedLock for writing: what it reads at the end is under the lock, too. */
	static final class Stamps {
		final StampedLock lock = new StampedLock();
		final LongAdder reads = new LongAdder();
		long writes, heldNs, since;

		void got() {
			writes++;
			since = System.nanoTime();
			spin(2000);
		}

		void gives() {
			heldNs += System.nanoTime() - since;
		}

		/* All tries for what somebody has already fail. */
		void writes(int i) {
			long stamp = i % 2 == 0 ? lock.writeLock() : lock.tryWriteLock();

			if (stamp == 0)
				return;
			got();
			if (lock.tryReadLock() != 0 || lock.tryWriteLock() != 0 || lock.tryOptimisticRead() != 0 ||
			    lock.tryConvertToReadLock(stamp - 256) != 0)
				throw new IllegalStateException();
			gives();
			if (i % 4 == 0) {
				lock.unlockRead(lock.tryConvertToReadLock(stamp));
				reads.increment();
			} else if (i % 3 == 0) {
				lock.tryConvertToOptimisticRead(stamp);
			} else if (i % 5 == 0) {
				lock.tryUnlockWrite();
			} else {
				lock.unlock(stamp);
			}
		}

		/* Twice at a time, then for writing if nobody else reads. */
		void reads() {
			long stamp = lock.readLock(), second = lock.tryReadLock(), write;

			if (lock.tryWriteLock() != 0)
				throw new IllegalStateException();
			if (second != 0) {
				lock.unlockRead(second);
				reads.increment();
			}
			write = lock.tryConvertToWriteLock(stamp);
			reads.increment();
			if (write == 0) {
				lock.unlock(stamp);
				return;
			}
			got();
			gives();
			lock.unlockWrite(write);
		}

		void looks() {
			long stamp = lock.tryOptimisticRead();

			if (!lock.validate(stamp))
				return;
			stamp = lock.tryConvertToWriteLock(stamp);
			if (stamp == 0)
				return;
			got();
			gives();
			lock.unlockWrite(stamp);
		}

		void views() {
			lock.asReadLock().lock();
			lock.asReadLock().unlock();
			reads.increment();
			lock.asWriteLock().lock();
			got();
			gives();
			lock.asWriteLock().unlock();
		}
	}

	static void stamped(int nr, int times) throws Exception {
		Stamps stamps = new Stamps();
		Thread[] threads = new Thread[nr];

		for (int i = 0; i < nr; i++) {
			threads[i] = new Thread(() -> {
				for (int k = 0; k < times; k++) {
					stamps.writes(k);
					stamps.reads();
					stamps.looks();
					stamps.views();
				}
			});
			threads[i].start();
		}
		for (Thread t : threads)
			t.join();
		System.out.println(stamps.writes + " " + stamps.reads.sum() + " " + stamps.heldNs);
	}

	static final class Notified { }

	static void notifies() throws Exception {
		Notified lock = new Notified();
		Thread[] waiters = new Thread[3];

		for (int i = 0; i < waiters.length; i++) {
			waiters[i] = new Thread(() -> {
				try {
					synchronized (lock) {
						lock.wait();
					}
				} catch (InterruptedException e) {
					throw new IllegalStateException(e);
				}
			}, "waiter-" + (i + 1));
			waiters[i].start();
			while (waiters[i].getState() != Thread.State.WAITING)
				Thread.sleep(1);
		}
		new Thread(() -> {
			synchronized (lock) {
				lock.notify();
			}
		}, "notifier").start();
		waiters[0].join();
		new Thread(() -> {
			synchronized (lock) {
				lock.notifyAll();
			}
		}, "everyone").start();
		waiters[1].join();
		waiters[2].join();
		synchronized (lock) {
			lock.notify();
		}
	}

	static Thread thread(boolean virtual, Runnable r) throws Exception {
		if (!virtual)
			return new Thread(r);
		Object builder = Thread.class.getMethod("of" + "Virtual").invoke(null);
		return (Thread) Class.forName("java.lang.Thread$Builder").getMethod("unstarted", Runnable.class)
			.invoke(builder, r);
	}

	public static void main(String[] args) throws Exception {
		if (args[0].equals("notify")) {
			notifies();
			return;
		}
		if (args[0].equals("reads")) {
			reads(Integer.parseInt(args[1]));
			return;
		}
		if (args[0].equals("stamped")) {
			stamped(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
			return;
		}
		if (args[0].equals("cpu")) {
			consumes(Integer.parseInt(args[1]));
			return;
		}
		boolean forever = args.length > 3;
		int times = Integer.parseInt(args[2]);
		LongAdder failed = new LongAdder();

		if (forever)
			System.out.println("counting");
		do {
			Thread[] threads = new Thread[Integer.parseInt(args[1])];

			for (int i = 0; i < threads.length; i++) {
				threads[i] = thread(args[0].equals("v"), () -> all(times));
				threads[i].setUncaughtExceptionHandler((t, e) -> failed.increment());
				threads[i].start();
			}
			for (Thread t : threads)
				t.join();
		} while (forever);
		if (failed.sum() > 0)
			throw new IllegalStateException("a thread has failed");
		for (Count c : new Count[] { block, waited, thrown, method, statics, lock, fair, write })
			System.out.println(c.name + " " + c.nonrec + " " + c.rec + " " + c.heldNs);
	}
}
