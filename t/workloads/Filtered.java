import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;

/**
 * What filters select, with the truth about it:
 *	Filtered alloc N [v]	threads worker-1, worker-2, and other, of which worker-1 is virtual with v, allocate N
 *				objects of Small and N arrays byte[1000] each; workers are in a group "workers"
 *	Filtered serve 0	says "ready", and does "alloc N" when it reads "N", which it says then
 *	Filtered lock N		a thread "waiter" waits N times for Short (0.5 ms and more), and N for Long (5 ms
 *				and more), which main has; prints for how long each time, in ns, a line each
 *	Filtered burn MS	threads worker-1, worker-2 and other use as much CPU time each
 */
public class Filtered {
	static final class Small { }
	static final class Short { }
	static final class Long { }

	static final Object shortly = new Short(), longer = new Long();
	static final ThreadGroup workers = new ThreadGroup("workers");
	static volatile Object sink;
	static volatile Object wanted;
	static volatile long spun;
	static final StringBuilder told = new StringBuilder();

	static void allocate(int times) {
		for (int i = 0; i < times; i++) {
			sink = new Small();
			sink = new byte[1000];
		}
	}

	static void burn(long ms) {
		ThreadMXBean self = ManagementFactory.getThreadMXBean();
		long until = self.getCurrentThreadCpuTime() + ms * 1000000;

		while (self.getCurrentThreadCpuTime() < until)
			for (int i = 0; i < 10000; i++)
				spun++;
	}

	static Thread start(String name, boolean virtual, Runnable r) throws Exception {
		if (!virtual) {
			Thread t = new Thread(name.startsWith("worker") ? workers : null, r, name);
			t.start();
			return t;
		}
		Object builder = Thread.class.getMethod("of" + "Virtual").invoke(null);
		Class<?> type = Class.forName("java.lang.Thread$Builder");
		builder = type.getMethod("name", String.class).invoke(builder, name);
		return (Thread) type.getMethod("start", Runnable.class).invoke(builder, r);
	}

	static void each(Runnable r, boolean virtual) throws Exception {
		List<Thread> all = new ArrayList<>();

		for (String name : new String[] { "worker-1", "worker-2", "other" }) {
			Thread t = start(name, virtual && name.equals("worker-1"), r);
			t.join();
		}
	}

	static void waitForAll(int times) {
		for (int i = 0; i < 2 * times; i++) {
			Object lock;

			while ((lock = wanted) == null)
				Thread.onSpinWait();
			wanted = null;
			long begun = System.nanoTime();
			synchronized (lock) {
				told.append(System.nanoTime() - begun).append('\n');
			}
		}
	}

	static void hold(Thread waiter, Object lock, long us) throws Exception {
		synchronized (lock) {
			wanted = lock;
			while (waiter.getState() != Thread.State.BLOCKED)
				Thread.onSpinWait();
			Thread.sleep(us / 1000, (int) (us % 1000) * 1000);
		}
		while (waiter.isAlive() && waiter.getState() == Thread.State.BLOCKED)
			Thread.onSpinWait();
	}

	static void lock(int times) throws Exception {
		Thread waiter = start("waiter", false, () -> waitForAll(times));

		for (int i = 0; i < times; i++) {
			hold(waiter, shortly, 500);
			hold(waiter, longer, 5000);
		}
		waiter.join();
		System.out.print(told);
	}

	static void serve() throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		String line;

		System.out.println("ready");
		while ((line = in.readLine()) != null) {
			int times = Integer.parseInt(line);

			each(() -> allocate(times), false);
			System.out.println(line);
		}
	}

	public static void main(String[] args) throws Exception {
		int many = Integer.parseInt(args[1]);

		switch (args[0]) {
		case "alloc":
			each(() -> allocate(many), args.length > 2);
			break;
		case "serve":
			serve();
			break;
		case "lock":
			lock(many);
			break;
		default:
			each(() -> burn(many), false);
		}
	}
}
