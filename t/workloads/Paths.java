// SPDX-License-Identifier: GPL-2.0-or-later
import java.io.File;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.util.function.LongUnaryOperator;
import java.util.zip.Deflater;

/**
 * One thread after the other, each named after a way to leave plain Java code and busy in it for
 * as many milliseconds of CPU time as the first argument says; prints "thread ms" as the JVM
 * itself accounts it.  Further arguments select threads.
 */
public final class Paths {
	static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();
	static volatile long sink;

	interface Step {
		long run(long n) throws Exception;
	}

	static long burn(long n) {
		long x = n;

		for (int i = 0; i < 20000; i++)
			x = x * 6364136223846793005L + 1442695040888963407L;
		return x;
	}

	static long plain(long n) {
		return burn(n);
	}

	static void thrower(int depth) {
		if (depth == 0)
			throw new IllegalStateException("bottom");
		thrower(depth - 1);
	}

	static long exceptions(long n) {
		for (int i = 0; i < 100; i++)
			try {
				thrower(30);
			} catch (IllegalStateException e) {
				n += e.getMessage().length();
			}
		return n;
	}

	static long lambda(long n) {
		LongUnaryOperator f = x -> burn(x + n);

		return f.applyAsLong(n);
	}

	public static long reflected(long n) {
		long x = n;

		for (int i = 0; i < 10; i++)
			x += burn(x);
		return x;
	}

	static Method method;

	static long reflection(long n) throws Exception {
		if (method == null)
			method = Paths.class.getMethod("reflected", long.class);
		return (Long) method.invoke(null, n);
	}

	static long bottom(long n) {
		return burn(n);
	}

	static long deep(int depth, long n) {
		return depth == 0 ? bottom(n) : deep(depth - 1, n) + 1;
	}

	static long recursion(long n) {
		return deep(500, n);
	}

	static byte[] text() {
		byte[] b = new byte[200000];

		for (int i = 0; i < b.length; i++)
			b[i] = (byte) (burnByte(i) >> 3);
		return b;
	}

	static int burnByte(int i) {
		return i * i + (i >> 5) * 31;
	}

	static final byte[] IN = text(), OUT = new byte[300000];

	static long deflate(long n) {
		Deflater d = new Deflater();

		d.setInput(IN);
		d.finish();
		n += d.deflate(OUT);
		d.end();
		return n;
	}

	static RandomAccessFile file;

	static long write(long n) throws Exception {
		file.seek(0);
		file.write(IN);
		return n;
	}

	static void section(String name, long ms, Step step) throws InterruptedException {
		Thread t = new Thread(() -> {
			long x = 1, end = ms * 1000000, used;

			try {
				while ((used = BEAN.getCurrentThreadCpuTime()) < end)
					for (int i = 0; i < 4; i++)
						x += step.run(x);
			} catch (Exception e) {
				throw new IllegalStateException(e);
			}
			sink = x;
			System.out.println(name + " " + used / 1000000);
		}, name);

		t.start();
		t.join();
	}

	public static void main(String[] args) throws Exception {
		long ms = Long.parseLong(args[0]);
		String only = args.length > 1 ? " " + String.join(" ", args).substring(args[0].length()) + " " : null;
		String[] names = { "plain", "exceptions", "lambda", "reflection", "recursion", "deflate", "write" };
		Step[] steps = { Paths::plain, Paths::exceptions, Paths::lambda, Paths::reflection, Paths::recursion,
			Paths::deflate, Paths::write };
		File f = File.createTempFile("paths", ".tmp");

		file = new RandomAccessFile(f, "rw");
		for (int i = 0; i < names.length; i++)
			if (only == null || only.contains(" " + names[i] + " "))
				section(names[i], ms, steps[i]);
		file.close();
		f.delete();
	}
}
