import java.io.*;
import java.lang.reflect.Method;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;

/**
 * Threads that block and go on all the time, while classes are unloaded, collections move what they wait for,
 * threads and processes come and go, virtual ones too where the JVM has them, and stacks are deep. IDLE threads wait
 * from the beginning to the end. Prints what it computed: Restless SECONDS SEED [IDLE].
 */
public class Restless {
	/** Loaded again and again, by a loader each. */
	public static class Guest {
		public static int nap(int n) throws Exception {
			Object gate = new Guest();
			for (int i = 0; i < n; i++)
				LockSupport.parkNanos(gate, 100_000);
			synchronized (gate) {
				gate.wait(1);
			}
			return n;
		}
	}

	static class Loader extends ClassLoader {
		final byte[] code;

		Loader(byte[] code) {
			super(Restless.class.getClassLoader());
			this.code = code;
		}

		@Override protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			return name.endsWith("$Guest") ? defineClass(name, code, 0, code.length) : super.loadClass(name, resolve);
		}
	}

	static final Object[] monitors = new Object[4];
	static final ReentrantLock lock = new ReentrantLock();
	static final SynchronousQueue<Integer> queue = new SynchronousQueue<>();
	static volatile boolean stop;
	static volatile Object garbage;

	static int deep(int n, int i) throws InterruptedException {
		if (n > 0)
			return deep(n - 1, i) + 1;
		synchronized (monitors[i % monitors.length]) {
			Thread.sleep(0, 200_000);
		}
		return 0;
	}

	interface Step { int run(Random r, int i) throws Exception; }

	static Thread start(String name, Step s, long seed, int[] sum, int at) {
		Thread t = new Thread(null, () -> {
			Random r = new Random(seed);
			try {
				for (int i = 0; !stop; i++)
					sum[at] += s.run(r, i);
			} catch (Exception e) {
				if (!stop)
					e.printStackTrace();
			}
		}, name, 16 << 20);
		t.start();
		return t;
	}

	static int guest(byte[] code) throws Exception {
		Class<?> c = new Loader(code).loadClass("Restless$Guest");
		Method m = c.getMethod("nap", int.class);

		return (Integer)m.invoke(null, 3) - 3;
	}

	static int brief() throws Exception {
		Thread[] t = new Thread[4];
		for (int i = 0; i < t.length; i++)
			(t[i] = new Thread(() -> LockSupport.parkNanos(50_000))).start();
		for (Thread x : t)
			x.join();
		return 0;
	}

	/** Virtual threads that park, wait for a lock and a monitor of all, and sleep within one. */
	static int light(Method starts, Random r) throws Exception {
		Thread[] t = new Thread[32];
		int nap = r.nextInt(200_000);

		for (int i = 0; i < t.length; i++) {
			Object gate = monitors[i % monitors.length];
			t[i] = (Thread)starts.invoke(null, (Runnable)() -> {
				LockSupport.parkNanos(gate, nap);
				lock.lock();
				lock.unlock();
				synchronized (gate) {
					LockSupport.parkNanos(nap);
				}
			});
		}
		for (Thread x : t)
			x.join();
		return 0;
	}

	static Method virtual_threads() {
		try {
			return Thread.class.getMethod("startVirtualThread", Runnable.class);
		} catch (NoSuchMethodException e) {
			return null;
		}
	}

	static void idle(int n, List<Thread> all, long end) {
		for (int i = 0; i < n && System.nanoTime() < end; i++) {
			Thread t = new Thread(null, () -> {
				while (!stop)
					LockSupport.park(monitors);
			}, "idle" + i, 128 << 10);
			t.start();
			all.add(t);
		}
	}

	static int child() throws Exception {
		Process p = new ProcessBuilder("/bin/true").start();
		return p.waitFor();
	}

	static int collect(Random r) throws Exception {
		List<Object> l = new ArrayList<>();
		for (int i = 0; i < 20_000; i++)
			l.add(new byte[r.nextInt(200)]);
		garbage = l;
		if (r.nextInt(20) == 0)
			System.gc();
		return 0;
	}

	static int locks(Random r) throws Exception {
		lock.lock();
		try {
			Thread.sleep(0, r.nextInt(400_000));
		} finally {
			lock.unlock();
		}
		return 0;
	}

	public static void main(String[] a) throws Exception {
		long end = System.nanoTime() + (long)(Double.parseDouble(a[0]) * 1e9);
		byte[] code;
		int[] sum = new int[64];
		List<Thread> t = new ArrayList<>();
		long seed = Long.parseLong(a[1]);

		try (InputStream in = Restless.class.getResourceAsStream("Restless$Guest.class")) {
			code = in.readAllBytes();
		}
		Arrays.setAll(monitors, i -> new Object());
		for (int i = 0; i < 4; i++) {
			int n = i;
			t.add(start("deep" + i, (r, k) -> { int d = r.nextInt(3000); return deep(d, k + n) - d; }, seed + i, sum, i));
			t.add(start("guest" + i, (r, k) -> guest(code), seed + i, sum, 8 + i));
			t.add(start("locks" + i, (r, k) -> locks(r), seed + i, sum, 16 + i));
		}
		t.add(start("brief", (r, k) -> brief(), seed, sum, 32));
		t.add(start("child", (r, k) -> child(), seed, sum, 33));
		t.add(start("collect", (r, k) -> collect(r), seed, sum, 34));
		t.add(start("put", (r, k) -> queue.offer(1, 1, TimeUnit.MILLISECONDS) ? 0 : 0, seed, sum, 35));
		t.add(start("take", (r, k) -> { queue.poll(1, TimeUnit.MILLISECONDS); return 0; }, seed, sum, 36));
		Method light = virtual_threads();
		if (light != null)
			t.add(start("light", (r, k) -> light(light, r), seed, sum, 37));
		List<Thread> idle = new ArrayList<>();
		idle(a.length > 2 ? Integer.parseInt(a[2]) : 0, idle, end);
		Thread.sleep(Math.max(0, (end - System.nanoTime()) / 1_000_000));
		stop = true;
		idle.forEach(LockSupport::unpark);
		t.addAll(idle);
		for (Thread x : t)
			x.join();
		System.out.println("sum " + Arrays.stream(sum).sum());
	}
}
