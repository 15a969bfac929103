import java.io.*;
import java.lang.management.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.locks.*;

/**
 * Threads that wait, each in its own way, and print how long: "TRUTH thread reason ms ms". Waits SECONDS. Every
 * call is measured by the thread itself: the time it took, less what the thread used of a CPU
 * meanwhile and what it waited for one, which the kernel tells (/proc/thread-self/schedstat). That comes last: it
 * begins when the thread is in a queue, later than it was woken where the queue is another CPU's that is not running.
 */
public class Waits {
	interface Call { void run() throws Exception; }

	/** What a thread measures of itself. */
	static final class Meter {
		final RandomAccessFile stat = new RandomAccessFile("/proc/thread-self/schedstat", "r");
		final byte[] text = new byte[100];
		final TreeMap<String, Long> blocked = new TreeMap<>(), delayed = new TreeMap<>();

		Meter() throws IOException { }

		long ready() throws IOException {
			stat.seek(0);
			String s = new String(text, 0, stat.read(text), StandardCharsets.US_ASCII);
			return Long.parseLong(s.trim().split(" ")[1]);
		}

		void call(String reason, Call c) throws Exception {
			long delay = ready(), cpu = mx.getCurrentThreadCpuTime(), t = System.nanoTime();
			c.run();
			long ns = System.nanoTime() - t - (mx.getCurrentThreadCpuTime() - cpu);
			delay = ready() - delay;
			blocked.merge(reason, Math.max(0, ns - delay), Long::sum);
			delayed.merge(reason, delay, Long::sum);
		}
	}

	interface Body { void run(Meter m) throws Exception; }

	static final class Gate { }

	static final ThreadMXBean mx = ManagementFactory.getThreadMXBean();
	static final Object monitor = new Object(), waited = new Object();
	static final ReentrantLock lock = new ReentrantLock();
	static final List<Thread> threads = new ArrayList<>();
	static volatile boolean stop;
	static volatile long sink;

	static void thread(String name, Body b) {
		Thread t = new Thread(() -> {
			try {
				Meter m = new Meter();
				while (!stop)
					b.run(m);
				synchronized (threads) {
					m.blocked.forEach((r, ns) -> System.out.printf("TRUTH %s %s %.1f %.1f%n", name, r, ns / 1e6,
						m.delayed.get(r) / 1e6));
				}
			} catch (Exception e) {
				e.printStackTrace();
			}
		}, name);
		t.start();
		threads.add(t);
	}

	static void busy(long us) {
		long end = System.nanoTime() + us * 1000, x = 0;
		while (System.nanoTime() < end)
			x++;
		sink = x;
	}

	static void sleeps() throws Exception { Thread.sleep(37); }
	static void parks() { LockSupport.parkNanos(new Gate(), 23_000_000); }
	static void parksBriefly() { LockSupport.parkNanos(300_000); }
	static void waits() throws Exception { synchronized (waited) { waited.wait(41); } }
	static void enters() { synchronized (monitor) { sink++; } }
	static void locks() { lock.lock(); lock.unlock(); }
	static void holdsMonitor() throws Exception { synchronized (monitor) { Thread.sleep(60); } }
	static void holdsLock() throws Exception {
		lock.lock();
		try {
			Thread.sleep(30);
		} finally {
			lock.unlock();
		}
	}

	public static void main(String[] a) throws Exception {
		long ms = (long)(Double.parseDouble(a[0]) * 1000);
		ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		Socket far = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort()), near = server.accept();
		InputStream in = near.getInputStream();
		OutputStream out = far.getOutputStream();

		thread("sleeper", m -> { m.call("sleep", Waits::sleeps); busy(1000); });
		thread("parker", m -> { m.call("park", Waits::parks); busy(500); });
		thread("waiter", m -> { m.call("wait", Waits::waits); busy(500); });
		thread("brief", m -> { for (int i = 0; i < 100; i++) m.call("park", Waits::parksBriefly); });
		thread("enterer", m -> { m.call("monitor", Waits::enters); Thread.sleep(3); });
		thread("holder", m -> { m.call("sleep", Waits::holdsMonitor); m.call("sleep", () -> Thread.sleep(5)); });
		thread("locker", m -> { m.call("park", Waits::locks); Thread.sleep(3); });
		thread("jholder", m -> { m.call("sleep", Waits::holdsLock); m.call("sleep", () -> Thread.sleep(4)); });
		thread("reader", m -> m.call("io", () -> in.read()));
		thread("acceptor", m -> m.call("io", () -> server.accept().close()));
		thread("mixed", m -> {
			m.call("sleep", () -> Thread.sleep(2));
			m.call("park", () -> LockSupport.parkNanos(1_500_000));
			m.call("wait", () -> { synchronized (waited) { waited.wait(3); } });
		});
		Thread writer = new Thread(() -> {
			try {
				for (int i = 0; !stop || threads.stream().anyMatch(Thread::isAlive); i++) {
					Thread.sleep(19);
					out.write(1);
					if (i % 2 == 0)
						new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort()).close();
				}
			} catch (Exception e) {
				e.printStackTrace();
			}
		}, "writer");
		writer.start();
		Thread.sleep(ms);
		stop = true;
		for (Thread t : threads)
			t.join();
		writer.join();
	}
}
