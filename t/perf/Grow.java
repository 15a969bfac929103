// SPDX-License-Identifier: GPL-2.0-or-later

import java.io.InputStream;
import java.lang.reflect.Method;

/** A deep recursion, or many compiled methods, for growth.sh: Grow depth N | methods N. */
public class Grow {
	static long sink;

	static void descend(int depth) {
		if (depth > 0) {
			descend(depth - 1);
			sink++;
			return;
		}
		long end = System.nanoTime() + 500_000_000L;
		while (System.nanoTime() < end)
			sink++;
	}

	/** What each loader has a copy of: ten methods. */
	public static class Ten {
		static int a(int x) { return x + 1; }
		static int b(int x) { return a(x) * 2; }
		static int c(int x) { return b(x) ^ 3; }
		static int d(int x) { return c(x) - 4; }
		static int e(int x) { return d(x) * 5; }
		static int f(int x) { return e(x) | 6; }
		static int g(int x) { return f(x) + 7; }
		static int h(int x) { return g(x) ^ 8; }
		static int i(int x) { return h(x) - 9; }
		public static int run(int x) { return i(x); }
	}

	static class Loader extends ClassLoader {
		Class<?> define(byte[] b) {
			return defineClass(null, b, 0, b.length);
		}
	}

	static void methods(int n) throws Exception {
		byte[] code;
		try (InputStream in = Grow.class.getResourceAsStream("Grow$Ten.class")) {
			code = in.readAllBytes();
		}
		for (int i = 0; i < n / 10; i++) {
			Method run = new Loader().define(code).getMethod("run", int.class);
			for (int k = 0; k < 20; k++)
				sink += (Integer) run.invoke(null, k);
		}
	}

	public static void main(String[] a) throws Exception {
		int n = Integer.parseInt(a[1]);
		if (a[0].equals("methods")) {
			methods(n);
			return;
		}
		Thread t = new Thread(null, () -> descend(n), "deep", 512 << 20);
		t.start();
		t.join();
	}
}
