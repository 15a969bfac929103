// SPDX-License-Identifier: GPL-2.0-or-later
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.function.LongUnaryOperator;

/**
 * What is hard on who walks stacks, all at once: threads that come and go, deoptimisation,
 * garbage, classes that are loaded and unloaded, exceptions, and virtual threads where there are
 * some.  As many rounds as the argument says; prints a sum that must come out.
 */
public final class Stress {
	static volatile long garbage;

	interface Step {
		long run(int n) throws Exception;
	}

	/* Each thread lives for a few hundred microseconds. */
	static long threads(int n) throws Exception {
		long[] sums = new long[40];

		for (int i = 0; i < sums.length; i++) {
			int k = i;
			Thread t = new Thread(() -> {
				long x = n + 1;

				for (int j = 0; j < 100000; j++)
					x = x * 31 + j;
				sums[k] = x;
			}, "short-" + i);

			t.start();
			if (i % 4 == 3)
				t.join();
		}
		Thread.sleep(1);
		return sums[3];
	}

	public abstract static class Animal {
		public abstract int legs(int n);
	}

	static final class Cat extends Animal {
		@Override
		public int legs(int n) {
			return n + 4;
		}
	}

	static int count(Animal[] animals, int n) {
		int sum = 0;

		for (Animal a : animals)
			sum += a.legs(n);
		return sum;
	}

	/* Compiled for what was seen until the next class comes; a new one in each round. */
	static long deoptimised(int n) throws Exception {
		Animal[] animals = new Animal[64];
		long sum = 0;

		for (int i = 0; i < animals.length; i++)
			animals[i] = new Cat();
		for (int i = 0; i < 3000; i++)
			sum += count(animals, i);
		animals[n % 64] = (Animal) fresh("StressAnimal");
		for (int i = 0; i < 3000; i++)
			sum += count(animals, i);
		return sum;
	}

	static final class Loader extends ClassLoader {
		Loader() {
			super(Stress.class.getClassLoader());
		}

		Object make(String name) throws Exception {
			ByteArrayOutputStream out = new ByteArrayOutputStream();

			try (InputStream in = Stress.class.getResourceAsStream(name + ".class")) {
				out.write(in.readAllBytes());
			}
			Class<?> c = defineClass(name, out.toByteArray(), 0, out.size());
			Constructor<?> made = c.getDeclaredConstructor();

			made.setAccessible(true);
			return made.newInstance();
		}
	}

	static Object fresh(String name) throws Exception {
		return new Loader().make(name);
	}

	static long unloaded(int n) throws Exception {
		long sum = 0;

		for (int k = 0; k < 3; k++) {
			LongUnaryOperator f = (LongUnaryOperator) fresh("StressWork");

			for (int i = 0; i < 3000; i++)
				sum += f.applyAsLong(i);
		}
		if (n % 8 == 0)
			System.gc();
		return sum;
	}

	static long garbage(int n) {
		Map<Integer, List<String>> m = new HashMap<>();
		long sum = 0;

		for (int i = 0; i < 20000; i++)
			m.computeIfAbsent(i % 100, k -> new ArrayList<>()).add("s" + i);
		for (List<String> l : m.values())
			sum += l.size() + l.get(0).length();
		garbage = sum + n;
		return sum;
	}

	static int thrower(int depth) {
		if (depth == 0)
			throw new IllegalArgumentException("x");
		try {
			return thrower(depth - 1);
		} finally {
			garbage++;
		}
	}

	static long exceptions(int n) {
		long sum = 0;

		for (int i = 0; i < 300; i++)
			try {
				sum += thrower(i % 60);
			} catch (IllegalArgumentException e) {
				sum += e.getStackTrace().length;
			}
		return sum;
	}

	static long virtuals(int n) throws Exception {
		Semaphore done = new Semaphore(0);
		Method start;

		try {
			start = Thread.class.getMethod("startVirtualThread", Runnable.class);
			if (n == 0)
				start.invoke(null, (Runnable) () -> { });
		} catch (ReflectiveOperationException e) {
			return 0;
		}
		for (int i = 0; i < 50; i++)
			start.invoke(null, (Runnable) () -> {
				for (int k = 0; k < 10; k++) {
					garbage += thrown(k);
					Thread.yield();
				}
				done.release();
			});
		done.acquire(50);
		return 0;
	}

	static long thrown(int depth) {
		if (depth > 0)
			return thrown(depth - 1) + 1;
		Thread.yield();
		return 1;
	}

	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[0]);
		Step[] steps = { Stress::threads, Stress::deoptimised, Stress::unloaded, Stress::garbage,
			Stress::exceptions, Stress::virtuals };
		long[] sums = new long[steps.length];
		Thread[] threads = new Thread[steps.length];

		for (int i = 0; i < steps.length; i++) {
			int k = i;

			threads[i] = new Thread(() -> {
				try {
					for (int n = 0; n < rounds; n++)
						sums[k] = sums[k] * 31 + steps[k].run(n);
				} catch (Throwable e) {
					e.printStackTrace();
					System.exit(9);
				}
			}, "stress-" + i);
			threads[i].start();
		}
		for (Thread t : threads)
			t.join();
		for (long s : sums)
			System.out.print(s + " ");
		System.out.println();
	}
}

class StressAnimal extends Stress.Animal {
	StressAnimal() {
	}

	@Override
	public int legs(int n) {
		return n + 6;
	}
}

class StressWork implements LongUnaryOperator {
	StressWork() {
	}

	@Override
	public long applyAsLong(long x) {
		for (int i = 0; i < 200; i++)
			x = x * 6364136223846793005L + 1442695040888963407L;
		return x;
	}
}
