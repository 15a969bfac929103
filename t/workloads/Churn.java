import java.io.*;
import java.lang.reflect.*;
import java.net.*;
import java.util.*;
import javax.tools.*;

/**
 * Classes that are loaded, burn CPU and are unloaded again, each generation under other
 * names; threads that come and go; prints how much CPU time was burnt in which generation.
 */
public class Churn {
	static byte[] template;

	/** The bytes of Work with its name changed, same length. */
	static byte[] named(String name) {
		byte[] b = template.clone();
		byte[] old = "Churn$Work0000".getBytes(), now = name.getBytes();
		for (int i = 0; i + old.length <= b.length; i++) {
			int k = 0;
			while (k < old.length && b[i + k] == old[k])
				k++;
			if (k == old.length)
				System.arraycopy(now, 0, b, i, now.length);
		}
		return b;
	}

	static class Loader extends ClassLoader {
		Loader() { super(Churn.class.getClassLoader()); }
		Class<?> make(String name) { byte[] b = named(name); return defineClass(name, b, 0, b.length); }
	}

	static class Work0000 {
		public static long spin(int n) {
			long h = n;
			for (int i = 0; i < n; i++)
				h = step(h, i);
			return h;
		}
		static long step(long h, int i) { return (h ^ i) * 0x9E3779B97F4A7C15L + (h >>> 7); }
	}

	public static void main(String[] a) throws Exception {
		int generations = a.length > 0 ? Integer.parseInt(a[0]) : 60;
		try (InputStream in = Churn.class.getResourceAsStream("Churn$Work0000.class")) {
			template = in.readAllBytes();
		}
		long sum = 0;
		for (int g = 0; g < generations; g++) {
			final String name = String.format("Churn$Work%04d", g + 1);
			final long[] out = new long[1];
			Thread t = new Thread(() -> {
				try {
					Class<?> c = new Loader().make(name);
					Method m = c.getDeclaredMethod("spin", int.class);
					m.setAccessible(true);
					for (int i = 0; i < 20; i++)
						out[0] += (Long) m.invoke(null, 1_000_000);
				} catch (Exception e) { throw new RuntimeException(e); }
			}, "churn-" + g);
			t.start();
			t.join();
			t = null;
			sum += out[0];
			System.gc();
		}
		System.out.println("done " + (sum != 0) + " unloaded " +
			java.lang.management.ManagementFactory.getClassLoadingMXBean().getUnloadedClassCount());
	}
}
