import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/* What a JVM tells of, a known number of times: "Happens 7" does each seven times, and a multiple of some. */
public class Happens {
	static volatile Object sink;

	public static class Guest {
		public int number() {
			return 1;
		}
	}

	/* Defines the guest itself, once for each loader. */
	static class Own extends ClassLoader {
		Own() {
			super("own", Happens.class.getClassLoader());
		}

		Class<?> guest() throws Exception {
			try (InputStream in = Happens.class.getResourceAsStream("Happens$Guest.class")) {
				byte[] b = in.readAllBytes();
				return defineClass("Happens$Guest", b, 0, b.length);
			}
		}
	}

	static void fail(int i) {
		throw new IllegalStateException("number " + i);
	}

	static void exceptions(int n) {
		for (int i = 0; i < n; i++) {
			try {
				fail(i);
			} catch (IllegalStateException e) {
				sink = e;
			}
		}
	}

	static void classes(int n) throws Exception {
		for (int i = 0; i < n; i++)
			sink = new Own().guest().getDeclaredConstructor().newInstance();
	}

	static void threads(int n) throws Exception {
		List<Thread> all = new ArrayList<>();
		for (int i = 0; i < n; i++) {
			Thread t = new Thread(() -> sink = new byte[100], "happens-" + i);
			all.add(t);
			t.start();
		}
		for (Thread t : all)
			t.join();
	}

	static int hot(int x) {
		int sum = 0;
		for (int i = 0; i < 1000; i++)
			sum += i * x ^ sum >> 3;
		return sum;
	}

	static void work(int n) {
		for (int i = 0; i < n * 10000; i++) {
			sink = new byte[2000];
			if (hot(i) == 42)
				sink = null;
		}
	}

	public static void main(String[] args) throws Exception {
		int n = Integer.parseInt(args[0]);

		exceptions(100 * n);
		classes(n);
		threads(n);
		work(n);
		for (int i = 0; i < n; i++)
			System.gc();
		System.out.println("exceptions " + 100 * n);
		System.out.println("classes " + n);
		System.out.println("threads " + n);
		System.out.println("gcs " + n);
	}
}
