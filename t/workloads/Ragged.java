// SPDX-License-Identifier: GPL-2.0-or-later
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.util.function.LongUnaryOperator;

/**
 * What is hard on who counts calls, printed as Calls does, before it is over. The argument says how it ends, deep in
 * calls: return, exit, halt, kill. With a second argument, so many times classes of other names are loaded and
 * unloaded first.
 */
public final class Ragged {
	static final int THREADS = 30, CLIMBS = 20, HEIGHT = 300, DEPTH = 100, WIDE = 15;
	static volatile long sink;

	static void total(String method, long n) { System.out.println("total " + method + " " + n); }

	/* --- threads that come and go, exceptions through hundreds of frames --- */

	static final class Fall extends RuntimeException {
		Fall() { super(null, null, false, false); }
	}

	static void climb(int height) {
		if (height == 1)
			throw new Fall();
		climb(height - 1);
		sink++;
	}

	static void climbs() {
		for (int i = 0; i < CLIMBS; i++)
			try {
				climb(HEIGHT);
			} catch (Fall f) {
				sink++;
			}
	}

	static void crowd() throws InterruptedException {
		Thread[] all = new Thread[THREADS];

		for (int i = 0; i < THREADS; i++) {
			all[i] = new Thread(Ragged::climbs, "r-" + i);
			all[i].start();
			if (i % 3 == 2)
				all[i - 1].join();
		}
		for (Thread t : all)
			t.join();
		total("Ragged.climbs", THREADS);
		total("Ragged.climb", THREADS * CLIMBS * HEIGHT);
		total("Ragged$Fall.<init>", THREADS * CLIMBS);
		System.out.println("thrown Ragged.climb " + THREADS * CLIMBS * HEIGHT);
	}

	/* --- more contexts than anybody wants to keep --- */

	static void left(int n) { both(n - 1); }

	static void right(int n) { both(n - 1); }

	static void both(int n) {
		if (n > 0) {
			left(n);
			right(n);
		}
	}

	static void wide() {
		both(WIDE);
		total("Ragged.left", (1 << WIDE) - 1);
		total("Ragged.right", (1 << WIDE) - 1);
		total("Ragged.both", (2 << WIDE) - 1);
	}

	/* --- classes of one loader each, unloaded when the next ones come --- */

	static final class Loader extends ClassLoader {
		Loader() { super(Ragged.class.getClassLoader()); }

		Class<?> define(byte[] b) { return defineClass(null, b, 0, b.length); }
	}

	static void replace(byte[] in, String from, String to) {
		byte[] f = from.getBytes(StandardCharsets.US_ASCII), t = to.getBytes(StandardCharsets.US_ASCII);

		for (int i = 0, k; i + f.length <= in.length; i++) {
			for (k = 0; k < f.length && in[i + k] == f[k]; k++)
				;
			if (k == f.length)
				System.arraycopy(t, 0, in, i, t.length);
		}
	}

	/* In each generation RaggedWork is another class of that name, RaggedW000 one of another name. */
	static void generations(int nr) throws Exception {
		byte[] template;
		long calls = 0;

		try (InputStream in = Ragged.class.getResourceAsStream("RaggedWork.class")) {
			template = in.readAllBytes();
		}
		for (int g = 0; g < nr; g++) {
			byte[] other = template.clone();
			String name = String.format("RaggedW%03d", g);

			replace(other, "RaggedWork", name);
			for (byte[] b : new byte[][] { template, other }) {
				Constructor<?> c = new Loader().define(b).getDeclaredConstructor();

				c.setAccessible(true);
				sink += ((LongUnaryOperator) c.newInstance()).applyAsLong(g);
			}
			calls += g + 1;
			total(name + ".step", g + 1);
			total(name + ".applyAsLong", 1);
			if (g % 50 == 49)
				System.gc();
		}
		total("RaggedWork.step", calls);
		total("RaggedWork.<init>", nr);
		System.out.println("unloaded " + ManagementFactory.getClassLoadingMXBean().getUnloadedClassCount());
	}

	/* --- the end --- */

	static void hook() {
		total("Ragged.hook", 1);
	}

	static void end(String how) throws Exception {
		total("Ragged.down", DEPTH);
		total("Ragged.end", 1);
		System.out.flush();
		switch (how) {
		case "exit":
			System.exit(3);
		case "halt":
			Runtime.getRuntime().halt(4);
		case "kill":
			new ProcessBuilder("sh", "-c", "kill -9 " + ProcessHandle.current().pid()).start();
			Thread.sleep(60000);
		}
	}

	static void down(int n, String how) throws Exception {
		if (n == 1)
			end(how);
		else
			down(n - 1, how);
	}

	public static void main(String[] args) throws Exception {
		Runtime.getRuntime().addShutdownHook(new Thread(Ragged::hook, "hook"));
		if (args.length > 1)
			generations(Integer.parseInt(args[1]));
		crowd();
		wide();
		down(DEPTH, args[0]);
	}
}

class RaggedWork implements LongUnaryOperator {
	RaggedWork() {
	}

	static long step(long x) { return x * 31 + 7; }

	@Override
	public long applyAsLong(long n) {
		long x = n;

		for (long i = 0; i <= n; i++)
			x = step(x);
		return x;
	}
}
