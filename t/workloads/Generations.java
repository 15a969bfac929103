// SPDX-License-Identifier: GPL-2.0-or-later
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.ref.WeakReference;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.function.LongUnaryOperator;

/**
 * Defines the class Gen00, Gen01, ... in a loader of its own, works in its method work00,
 * work01, ..., and drops it, so that classes are unloaded and their code's addresses used
 * again.  Prints "generation begin end cpu", times as System.nanoTime() has them and the thread's
 * CPU time in ns; at the end "unloaded N".
 */
public final class Generations {
	static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();

	static final class Loader extends ClassLoader {
		Loader() {
			super(Generations.class.getClassLoader());
		}

		Class<?> define(byte[] b) {
			return defineClass(null, b, 0, b.length);
		}
	}

	static byte[] template() throws Exception {
		try (InputStream in = Generations.class.getResourceAsStream("GenXX.class")) {
			return in.readAllBytes();
		}
	}

	/* The template's names end in XX; they stand in its constant pool as text. */
	static byte[] generation(byte[] template, int k) {
		String s = new String(template, StandardCharsets.ISO_8859_1);
		String nr = String.format("%02d", k);

		return s.replace("GenXX", "Gen" + nr).replace("workXX", "work" + nr)
			.getBytes(StandardCharsets.ISO_8859_1);
	}

	/* Its class is of another package at run time. */
	static Object construct(Class<?> c) throws Exception {
		Constructor<?> made = c.getDeclaredConstructor();

		made.setAccessible(true);
		return made.newInstance();
	}

	static WeakReference<Class<?>> live(byte[] template, int k, long ms) throws Exception {
		Class<?> c = new Loader().define(generation(template, k));
		LongUnaryOperator f = (LongUnaryOperator) construct(c);
		long begin = System.nanoTime(), cpu = BEAN.getCurrentThreadCpuTime(), now, x = 1;

		do {
			for (int i = 0; i < 200; i++)
				x += f.applyAsLong(x);
			now = BEAN.getCurrentThreadCpuTime();
		} while (now - cpu < ms * 1000000);
		System.out.println(k + " " + begin + " " + System.nanoTime() + " " + (now - cpu));
		return new WeakReference<>(c);
	}

	public static void main(String[] args) throws Exception {
		int nr = Integer.parseInt(args[0]), unloaded = 0;
		long ms = Long.parseLong(args[1]);
		byte[] template = template();

		for (int k = 0; k < nr; k++) {
			WeakReference<Class<?>> gone = live(template, k, ms);

			for (int i = 0; i < 3 && gone.get() != null; i++)
				System.gc();
			unloaded += gone.get() == null ? 1 : 0;
		}
		System.out.println("unloaded " + unloaded);
	}
}

class GenXX implements LongUnaryOperator {
	static long workXX(long x) {
		for (int i = 0; i < 2000; i++)
			x = x * 6364136223846793005L + 1442695040888963407L;
		return x;
	}

	public GenXX() {
	}

	@Override
	public long applyAsLong(long x) {
		return workXX(x);
	}
}
