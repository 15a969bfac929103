// SPDX-License-Identifier: GPL-2.0-or-later
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntUnaryOperator;

/**
 * A program that knows what it does, for t/matrix/run: it prints "truth WHAT NUMBER" at its end. In the language
 * of JDK 8, so that every JDK can compile it.
 *
 *	Truth time MS	works, waits and allocates in threads for that long
 *	Truth count N	calls methods, how often each follows from N
 *	Truth share MS	computes in two methods, one of which takes three times as long, for that long
 *	Truth events N	throws, locks, loads classes and has garbage collected, N times each
 */
public final class Truth {
	/** What the threads wait for: classes of our own, which nothing else uses. */
	static final class Monitor {
	}

	static final class Lock extends ReentrantLock {
	}

	static final Monitor monitor = new Monitor();
	static final Lock lock = new Lock();
	static final AtomicLong monitorNs = new AtomicLong(), lockNs = new AtomicLong(), thrown = new AtomicLong();
	static volatile boolean stop;
	static volatile long sink;
	static volatile Object kept;

	interface Body {
		void run() throws Exception;
	}

	static void truth(String what, long value) {
		System.out.println("truth " + what + " " + value);
	}

	static Thread thread(String name, Body body) {
		Thread t = new Thread(() -> {
			try {
				body.run();
			} catch (Exception e) {
				throw new IllegalStateException(e);
			}
		}, name);
		t.start();
		return t;
	}

	/* ---- time ---- */

	static int hash(int x) {
		for (int i = 0; i < 1000; i++)
			x = x * 31 + (x >>> 7);
		return x;
	}

	static void computes() {
		while (!stop)
			sink += hash((int) sink);
	}

	static void sleeps() throws InterruptedException {
		while (!stop)
			Thread.sleep(20);
	}

	static void virtualSleeps() throws InterruptedException {
		while (!stop)
			Thread.sleep(20);
	}

	/** Comes back to its frames in the heap again and again. */
	static void virtualComputes() throws InterruptedException {
		while (!stop) {
			for (int i = 0; i < 200; i++)
				sink += hash((int) sink);
			Thread.sleep(1);
		}
	}

	static void enters() throws InterruptedException {
		while (!stop) {
			long t = System.nanoTime();
			synchronized (monitor) {
				monitorNs.addAndGet(System.nanoTime() - t);
				Thread.sleep(4);
			}
		}
	}

	static void locks() throws InterruptedException {
		while (!stop) {
			long t = System.nanoTime();
			lock.lock();
			lockNs.addAndGet(System.nanoTime() - t);
			try {
				Thread.sleep(4);
			} finally {
				lock.unlock();
			}
		}
	}

	/** With its header, one takes 4096 bytes in every JVM. */
	static byte[] allocates() {
		return new byte[4080];
	}

	static void allocateAll() throws InterruptedException {
		long n = 0;
		while (!stop) {
			for (int i = 0; i < 64; i++, n++)
				kept = allocates();
			Thread.sleep(1);
		}
		truth("alloc_bytes", n * 4096);
	}

	/** NULL: this JDK has no virtual threads. */
	static ExecutorService virtualThreads() {
		try {
			return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
		} catch (ReflectiveOperationException e) {
			return null;
		}
	}

	static void time(long ms) throws Exception {
		ExecutorService virtual = virtualThreads();
		List<Thread> all = new ArrayList<>();

		all.add(thread("computes", () -> {
			long from = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
			computes();
			truth("cpu_ns", ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - from);
		}));
		all.add(thread("sleeps", () -> {
			long from = System.nanoTime();
			sleeps();
			truth("sleep_ns", System.nanoTime() - from);
		}));
		for (int i = 0; i < 2; i++) {
			all.add(thread("enters" + i, Truth::enters));
			all.add(thread("locks" + i, Truth::locks));
		}
		all.add(thread("allocates", Truth::allocateAll));
		Future<?> asleep = virtual == null ? null : virtual.submit(() -> {
			long from = System.nanoTime();
			virtualSleeps();
			truth("virtual_ns", System.nanoTime() - from);
			return null;
		});
		Future<?> busy = virtual == null ? null : virtual.submit(() -> {
			virtualComputes();
			return null;
		});
		Thread.sleep(ms);
		stop = true;
		for (Thread t : all)
			t.join();
		if (asleep != null) {
			asleep.get();
			busy.get();
		}
		truth("monitor_ns", monitorNs.get());
		truth("lock_ns", lockNs.get());
	}

	/* ---- share ---- */

	static long computesMuch() {
		long sum = 0;
		for (int i = 0; i < 15000; i++)
			sum += hash(i);
		return sum;
	}

	static long computesLittle() {
		long sum = 0;
		for (int i = 0; i < 5000; i++)
			sum += hash(i);
		return sum;
	}

	/** Their shares by the thread's own clock, in millionths: how fast the machine is does not matter. */
	static void share(long ms) {
		ThreadMXBean clock = ManagementFactory.getThreadMXBean();
		long until = System.nanoTime() + ms * 1000000, much = 0, little = 0;

		while (System.nanoTime() < until) {
			long begin = clock.getCurrentThreadCpuTime();
			sink += computesMuch();
			long middle = clock.getCurrentThreadCpuTime();
			sink += computesLittle();
			much += middle - begin;
			little += clock.getCurrentThreadCpuTime() - middle;
		}
		truth("much_ppm", 1000000 * much / (much + little));
	}

	/* ---- events ---- */

	static final class Failure extends RuntimeException {
		private static final long serialVersionUID = 1;
	}

	public static class Guest {
	}

	/** Defines the guest itself, once for each loader. */
	static final class Loader extends ClassLoader {
		Class<?> guest() throws Exception {
			try (InputStream in = Truth.class.getResourceAsStream("Truth$Guest.class")) {
				byte[] b = new byte[1 << 16];
				return defineClass("Truth$Guest", b, 0, in.read(b));
			}
		}
	}

	static void fails() {
		throw new Failure();
	}

	static void entersOnce() {
		synchronized (monitor) {
			sink++;
		}
	}

	static void locksOnce() {
		lock.lock();
		sink++;
		lock.unlock();
	}

	static void events(int n) throws Exception {
		for (int i = 0; i < n; i++) {
			try {
				fails();
			} catch (Failure e) {
				thrown.incrementAndGet();
			}
			entersOnce();
			locksOnce();
			kept = new Loader().guest().getDeclaredConstructor().newInstance();
			thread("happens", () -> sink++).join();
		}
		for (int i = 0; i < n / 10; i++)
			System.gc();
		truth("exceptions", thrown.get());
		truth("enters", n);
		truth("locks", n);
		truth("classes", n);
		truth("threads", n);
		truth("gcs", n / 10);
	}

	/* ---- count ---- */

	static int leaf(int x) { return x + 1; }

	static int three(int x) { return leaf(x) + leaf(x + 1) + leaf(x + 2); }

	static int deep(int d) { return d == 0 ? 0 : deep(d - 1) + 1; }

	static int throwsOften(int x) {
		if ((x & 1) == 0)
			throw new IllegalArgumentException();
		return x;
	}

	static int ofLambda(int x) { return x ^ 5; }

	static int ofVirtual(int x) { return x + 7; }

	static void count(int n) throws Exception {
		IntUnaryOperator lambda = x -> ofLambda(x);
		ExecutorService virtual = virtualThreads();

		for (int i = 0; i < n; i++) {
			sink += three(i) + lambda.applyAsInt(i);
			try {
				sink += throwsOften(i);
			} catch (IllegalArgumentException e) {
				thrown.incrementAndGet();
			}
		}
		for (int i = 0; i < n / 100; i++)
			sink += deep(200);
		for (int i = 0; virtual != null && i < n / 10; i++)
			virtual.submit(() -> sink += ofVirtual(1));
		for (int i = 0; i < n; i++)
			kept = allocates();
		if (virtual != null) {
			virtual.shutdown();
			virtual.awaitTermination(1, TimeUnit.MINUTES);
			truth("ofVirtual", n / 10);
		}
		truth("leaf", 3L * n);
		truth("three", n);
		truth("deep", 201L * (n / 100));
		truth("throwsOften", n);
		truth("ofLambda", n);
		truth("allocated_bytes", 4096L * n);
	}

	public static void main(String[] args) throws Exception {
		System.out.println("begun");
		switch (args[0]) {
		case "time":
			time(Long.parseLong(args[1]));
			break;
		case "share":
			share(Long.parseLong(args[1]));
			break;
		case "events":
			events(Integer.parseInt(args[1]));
			break;
		default:
			count(Integer.parseInt(args[1]));
		}
		System.out.println("truth end 1");
	}
}
