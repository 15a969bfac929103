import java.net.*;
import java.util.*;
import java.util.function.Consumer;

/*
 * What leaks, beside what only looks like it: a cache that is filled at the start, one that replaces its oldest
 * entries, thread-locals of threads that stay, and garbage. Options: -Dseconds=, -Dgarbage= (MB a second),
 * -Dleak= (bytes a second of each kind of leak, in objects of -Dentry= bytes), -Dcache= (MB), -Dkinds=
 * (cache,listener,local,loader). Prints "begun" after a second; in the end it collects, and prints
 * "method bytes" of the arrays that it has leaked.
 */
public class Leaks {
	static final int ENTRY = Integer.getInteger("entry", 1000), LARGE = 1000;

	static final class Cache {
		final Map<Integer, byte[]> map = new HashMap<>();
		long bytes;

		void put(int key) {
			byte[] value = new byte[ENTRY - 16];

			map.put(key, value);
			bytes += ENTRY;
		}
	}

	static final class Lru extends LinkedHashMap<Integer, byte[]> {
		int nr;

		void replace() {
			put(nr++, new byte[LARGE - 16]);
		}

		@Override
		protected boolean removeEldestEntry(Map.Entry<Integer, byte[]> e) {
			return size() > 500;
		}
	}

	static final class Listener implements Consumer<String> {
		final long[] state = new long[ENTRY / 8 - 2];

		public void accept(String s) {
			state[0]++;
		}
	}

	static final class Request {
		final int[] data = new int[ENTRY / 4 - 4];
	}

	static final class Loader extends URLClassLoader {
		final byte[] resources = new byte[20000];

		Loader(URL[] urls) {
			super(urls, null);
		}
	}

	static final ThreadLocal<ArrayDeque<Request>> requests = ThreadLocal.withInitial(ArrayDeque::new);
	static final ThreadLocal<byte[]> buffers = ThreadLocal.withInitial(() -> new byte[100000]);
	static final List<Consumer<String>> listeners = new ArrayList<>();
	static final List<Class<?>> plugins = new ArrayList<>();
	static final Cache cache = new Cache();
	static final Lru lru = new Lru();
	static byte[][] stable;
	static volatile Object sink;
	static long nrListeners, nrRequests, nrLoaders;

	static void subscribe() {
		listeners.add(new Listener());
		nrListeners++;
	}

	static void serve() {
		requests.get().add(new Request());
		nrRequests++;
	}

	static void deploy(URL[] urls) throws Exception {
		plugins.add(new Loader(urls).loadClass("Leaks"));
		nrLoaders++;
	}

	static void fill(int mb) {
		stable = new byte[mb * 1000][];
		for (int i = 0; i < stable.length; i++)
			stable[i] = new byte[LARGE - 16];
	}

	static void waste(long bytes) {
		for (long i = 0; i < bytes; i += LARGE)
			sink = new byte[LARGE - 16];
	}

	static void startThreads() {
		for (int i = 0; i < 20; i++) {
			Thread t = new Thread(() -> {
				buffers.get()[0]++;
				try {
					Thread.sleep(10_000_000);
				} catch (InterruptedException e) {
				}
			});
			t.setDaemon(true);
			t.start();
		}
	}

	public static void main(String[] args) throws Exception {
		long steps = Long.getLong("seconds", 10) * 100, begin = System.nanoTime();
		long garbage = Integer.getInteger("garbage", 100) * 1_000_000L;
		int leak = Integer.getInteger("leak", 1_000_000) / 100 / ENTRY;
		String kinds = System.getProperty("kinds", "cache,listener,local,loader");
		URL[] urls = { Leaks.class.getProtectionDomain().getCodeSource().getLocation() };

		fill(Integer.getInteger("cache", 20));
		startThreads();
		for (long i = 0; i < steps; i++) {
			long left = (begin + i * 10_000_000 - System.nanoTime()) / 1_000_000;

			if (left > 0)
				Thread.sleep(left);
			waste(garbage / 100);
			if (i == 100)
				System.out.println("begun");
			for (int k = 0; k < leak; k++) {
				lru.replace();
				if (kinds.contains("cache"))
					cache.put((int)(i * leak + k));
				if (kinds.contains("listener"))
					subscribe();
				if (kinds.contains("local"))
					serve();
				if (kinds.contains("loader") && k % 20 == 0)
					deploy(urls);
			}
		}
		System.gc();
		System.out.println("Leaks$Cache.put " + cache.bytes);
		System.out.println("Leaks.subscribe " + nrListeners * ENTRY);
		System.out.println("Leaks.serve " + nrRequests * ENTRY);
		System.out.println("Leaks.deploy " + nrLoaders * 20016);
	}
}
