import java.io.*;
import java.net.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;

/**
 * Virtual threads that wait without a carrier (JDK 24 and later, where monitors need none), each in its own way for a
 * while, in waits of several lengths; prints how long: "TRUTH thread reason ms". Unmounted SECONDS [IDLE]: so many more
 * threads wait from the beginning to the end.
 */
public class Unmounted {
	interface Wait {
		/** About that long; whoever else it takes lets it go on. */
		void once(long ns) throws Exception;
	}

	static class Gate {
	}

	static final Gate gate = new Gate();
	static final Object monitor = new Object(), condition = new Object();
	static final ReentrantLock lock = new ReentrantLock();
	static final long[] lengths = { 700_000, 3_000_000, 25_000_000, 90_000_000 };
	static long end;
	static CountDownLatch over = new CountDownLatch(1);

	static Thread waits(String name, String reason, Wait how) {
		return Thread.ofVirtual().name(name).start(() -> {
			long sum = 0;
			try {
				for (int i = 0; System.nanoTime() < end; i++) {
					long t = System.nanoTime();
					how.once(lengths[i % lengths.length]);
					sum += System.nanoTime() - t;
				}
			} catch (Exception e) {
				e.printStackTrace();
			}
			System.out.printf("TRUTH %s %s %.1f%n", name, reason, sum / 1e6);
		});
	}

	/** Another thread that holds something for a while, and lets go of it for long enough. */
	static Thread holds(Semaphore asked, Semaphore held, Lock l) {
		return Thread.ofPlatform().daemon().start(() -> {
			for (;;) {
				asked.acquireUninterruptibly();
				if (l != null) {
					l.lock();
					held.release();
					LockSupport.parkNanos(9_000_000);
					l.unlock();
					continue;
				}
				synchronized (monitor) {
					held.release();
					LockSupport.parkNanos(9_000_000);
				}
			}
		});
	}

	static void locks(Semaphore asked, Semaphore held) {
		asked.release();
		held.acquireUninterruptibly();
	}

	public static void main(String[] a) throws Exception {
		int idle = a.length > 1 ? Integer.parseInt(a[1]) : 1;
		Semaphore monitorAsked = new Semaphore(0), monitorHeld = new Semaphore(0);
		Semaphore lockAsked = new Semaphore(0), lockHeld = new Semaphore(0);
		ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
		Socket client = new Socket(server.getInetAddress(), server.getLocalPort()), peer = server.accept();
		InputStream in = client.getInputStream();
		OutputStream out = peer.getOutputStream();

		end = System.nanoTime() + Long.parseLong(a[0]) * 1_000_000_000L;
		for (int i = 0; i < idle; i++)
			Thread.ofVirtual().name("idle-" + i).start(() -> {
				for (;;)
					LockSupport.park(gate);
			});
		holds(monitorAsked, monitorHeld, null);
		holds(lockAsked, lockHeld, lock);
		Thread.ofPlatform().daemon().start(() -> {
			try {
				for (;;) {
					LockSupport.parkNanos(25_000_000);
					out.write(1);
				}
			} catch (IOException e) {
			}
		});
		Thread[] t = {
			waits("sleeper", "sleep", ns -> Thread.sleep(ns / 1_000_000, (int)(ns % 1_000_000))),
			waits("parker", "park", ns -> LockSupport.parkNanos(gate, ns)),
			waits("waiter", "wait", ns -> {
				synchronized (condition) {
					condition.wait(ns / 1_000_000 + 1);
				}
			}),
			waits("reader", "io", ns -> in.read()),
			Thread.ofVirtual().name("enterer").start(() -> {
				long sum = 0;
				while (System.nanoTime() < end) {
					locks(monitorAsked, monitorHeld);
					long ns = System.nanoTime();
					synchronized (monitor) {
						sum += System.nanoTime() - ns;
					}
				}
				System.out.printf("TRUTH enterer monitor %.1f%n", sum / 1e6);
			}),
			Thread.ofVirtual().name("locker").start(() -> {
				long sum = 0;
				while (System.nanoTime() < end) {
					locks(lockAsked, lockHeld);
					long ns = System.nanoTime();
					lock.lock();
					sum += System.nanoTime() - ns;
					lock.unlock();
				}
				System.out.printf("TRUTH locker lock %.1f%n", sum / 1e6);
			}),
		};
		for (Thread x : t)
			x.join();
	}
}
