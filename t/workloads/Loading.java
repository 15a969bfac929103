import java.util.Arrays;

/*
 * Loads classes by a loader that takes its time, and has a thread that is late at safepoints: "Loading classes 30"
 * loads each of two classes in 30 ms of the loader's, one within the other, "Loading first 30" by a loader that
 * asks nobody before; "Loading safepoints 20" asks for twenty, each while the thread called late fills an array.
 */
public class Loading {
	static volatile Object sink;

	public static class Above { }
	public static class Below extends Above { }

	static class Slow extends ClassLoader {
		private final long ms;

		Slow(long ms) {
			super(null);
			this.ms = ms;
		}

		@Override protected Class<?> findClass(String name) throws ClassNotFoundException {
			try (var in = Loading.class.getResourceAsStream(name + ".class")) {
				Thread.sleep(ms);
				byte[] b = in.readAllBytes();
				return defineClass(name, b, 0, b.length);
			} catch (Exception e) {
				throw new ClassNotFoundException(name, e);
			}
		}
	}

	/* Its own classes first. */
	static class First extends Slow {
		First(long ms) {
			super(ms);
		}

		@Override protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			if (!name.startsWith("Loading"))
				return super.loadClass(name, resolve);
			Class<?> loaded = findLoadedClass(name);
			return loaded != null ? loaded : findClass(name);
		}
	}

	/* In vain at first; then, and after some time, by a call that the VM knows nothing of. */
	static void first(long ms) throws Exception {
		ClassLoader loader = new First(ms);

		try {
			loader.loadClass("Loading$Missing");
		} catch (ClassNotFoundException e) {
			sink = e;
		}
		Thread.sleep(10 * ms);
		sink = loader.loadClass("Loading$Below");
		sink = (Runnable)() -> sink = null;
	}

	static void cause(ClassLoader loader) throws Exception {
		sink = Class.forName("Loading$Below", true, loader);
	}

	static void classes(long ms) throws Exception {
		ClassLoader loader = new Slow(ms);

		/* the loader's own classes are loaded for one that is not there */
		try {
			loader.loadClass("Missing");
		} catch (Exception e) {
			sink = e;
		}
		cause(loader);
	}

	static void safepoints(int n) throws Exception {
		final long[] room = new long[8 << 20];
		Thread late = new Thread(() -> {
			for (long i = 0; ; i++)
				Arrays.fill(room, i);
		}, "late");
		late.setDaemon(true);
		late.start();
		for (int i = 0; i < n; i++) {
			Thread.sleep(20);
			System.gc();
		}
	}

	public static void main(String[] args) throws Exception {
		if (args[0].equals("classes"))
			classes(Long.parseLong(args[1]));
		else if (args[0].equals("first"))
			first(Long.parseLong(args[1]));
		else
			safepoints(Integer.parseInt(args[1]));
	}
}
