// SPDX-License-Identifier: GPL-2.0-or-later
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntUnaryOperator;

/**
 * Calls of every kind, and what each must have been counted: prints "total <method> <calls>" over all
 * contexts, "path <outer;...;inner> <calls>" for the end of a context, "thrown <method> <exits>".
 * "path ... <calls>" counts contexts that end so, in all threads.
 */
public final class Calls {
	static final StringBuilder wanted = new StringBuilder();
	static volatile long sink;

	static void total(String method, long n) { wanted.append("total Calls").append(method).append(' ').append(n).append('\n'); }
	static void path(String path, long n) { wanted.append("path ").append(path).append(' ').append(n).append('\n'); }
	static void thrown(String method, long n) { wanted.append("thrown Calls").append(method).append(' ').append(n).append('\n'); }

	/* --- recursion --- */

	static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

	static int down(int n) { return n == 0 ? bottom() : down(n - 1) + 1; }

	static int bottom() { return 7; }

	static boolean even(int n) { return n == 0 || odd(n - 1); }

	static boolean odd(int n) { return n != 0 && even(n - 1); }

	static void recursion() {
		fib(20);
		for (int i = 0; i < 100; i++)
			down(50);
		even(1000);
		total(".fib", 21891);
		total(".down", 5100);
		path("Calls.recursion;Calls.fib", 1);
		path("Calls.recursion;Calls.fib;Calls.fib", 2);
		path("Calls.recursion;Calls.fib;Calls.fib;Calls.fib", 4);
		path("Calls.recursion;Calls.down;Calls.down;Calls.down", 100);
		total(".bottom", 100);
		total(".even", 501);
		total(".odd", 500);
		path("Calls.recursion;Calls.even;Calls.odd;Calls.even", 1);
	}

	/* --- exceptions --- */

	static final class Stop extends RuntimeException {
		Stop() { super(null, null, false, false); }
	}

	static void after() { sink++; }

	static void cleanup() { sink++; }

	static void throwsIt() { throw new Stop(); }

	static void through() { throwsIt(); }

	static void withFinally() {
		try {
			through();
		} finally {
			cleanup();
		}
	}

	static void catches() {
		try {
			withFinally();
		} catch (Stop s) {
			after();
		}
	}

	@SuppressWarnings("finally")
	static int swallows() {
		try {
			through();
			return 1;
		} finally {
			return 2;
		}
	}

	static int inside() {
		int n = 0;
		for (int i = 0; i < 10; i++)
			try {
				if (i % 2 == 0)
					throw new Stop();
				n++;
			} catch (Stop s) {
				n += 2;
			}
		return n;
	}

	static int implicit(int[] a, int i) { return a[i]; }

	static void exceptions() {
		for (int i = 0; i < 1000; i++) {
			catches();
			after();
			swallows();
		}
		for (int i = 0; i < 100; i++) {
			inside();
			try {
				implicit(i % 2 == 0 ? null : new int[0], 5);
			} catch (NullPointerException | ArrayIndexOutOfBoundsException e) {
				after();
			}
		}
		path("Calls.exceptions;Calls.catches;Calls.withFinally;Calls.through;Calls.throwsIt", 1000);
		path("Calls.exceptions;Calls.catches;Calls.withFinally;Calls.cleanup", 1000);
		path("Calls.exceptions;Calls.catches;Calls.after", 1000);
		path("Calls.exceptions;Calls.after", 1100);
		path("Calls.exceptions;Calls.swallows;Calls.through;Calls.throwsIt", 1000);
		path("Calls.exceptions;Calls.inside;Calls$Stop.<init>", 500);
		total("$Stop.<init>", 2500 + 76);	/* with those of constructors() */
		thrown(".throwsIt", 2000);
		thrown(".through", 2000);
		thrown(".withFinally", 1000);
		thrown(".implicit", 100);
	}

	/* --- constructors and static initialisers --- */

	static class Base {
		int value;
		Base(int v) { value = v; }
	}

	static final class BadArgument extends Base {
		BadArgument(int v) { super(check(v)); }
		static int check(int v) {
			if (v < 0)
				throw new Stop();
			return v;
		}
	}

	static final class BadBody extends Base {
		BadBody(int v) {
			super(v);
			if (v < 0)
				throw new Stop();
			after();
		}
	}

	static final class Good {
		static final int value;
		static {
			int v = 0;
			for (int i = 0; i < 10; i++)
				v += bottomOfClass();
			value = v;
		}
		static int bottomOfClass() { return 1; }
	}

	static final class Bad {
		static int value;
		static {
			fails();
			value = 1;
		}
		static void fails() { throw new Stop(); }
	}

	static void constructors() {
		for (int i = 0; i < 100; i++) {
			try {
				new BadArgument(i % 2 == 0 ? i : -i);
			} catch (Stop s) {
				after();
			}
			try {
				new BadBody(i % 4 == 0 ? -1 : 1);
			} catch (Stop s) {
				after();
			}
		}
		sink = Good.value;
		for (int i = 0; i < 3; i++)
			try {
				sink = Bad.value;
			} catch (ExceptionInInitializerError | NoClassDefFoundError e) {
				after();
			}
		total("$BadArgument.check", 100);
		total("$BadArgument.<init>", 100);
		total("$BadBody.<init>", 100);
		path("Calls.constructors;Calls$BadArgument.<init>;Calls$Base.<init>", 50);
		path("Calls.constructors;Calls$BadBody.<init>;Calls$Base.<init>", 100);
		path("Calls.constructors;Calls$BadBody.<init>;Calls.after", 75);
		path("Calls.constructors;Calls$BadBody.<init>;Calls$Stop.<init>", 25);
		path("Calls.constructors;Calls.after", 50 + 25 + 3);
		path("Calls.constructors;Calls$Good.<clinit>;Calls$Good.bottomOfClass", 10);
		path("Calls.constructors;Calls$Bad.<clinit>;Calls$Bad.fails", 1);
		thrown("$BadBody.<init>", 25);
		thrown("$Bad.<clinit>", 1);
		thrown("$Bad.fails", 1);
	}

	/* --- ways to call --- */

	interface Shape {
		default int sides() { return count() + 1; }
		int count();
		static Shape of(int n) { return n % 2 == 0 ? new Even() : () -> 1; }
	}

	static final class Even implements Shape {
		public int count() { return 2; }
		public int sides() { return Shape.super.sides(); }
	}

	static synchronized int locked(int v) { return v + 1; }

	synchronized int lockedThis(int v) { return locked(v); }

	static int reflected(int v) { return v + 2; }

	static int handled(int v) { return v + 3; }

	static long pick(int v) {
		switch (v) {
		case 0: return 1;
		case 1: return 2L;
		case 2: sink++;
		case 3: return sink;
		default: return -1;
		}
	}

	static double wide(long a, double b, long c, double d) { return a + b + c + d; }

	static void ways() throws Throwable {
		Method m = Calls.class.getDeclaredMethod("reflected", int.class);
		MethodHandle h = MethodHandles.lookup().findStatic(Calls.class, "handled",
			MethodType.methodType(int.class, int.class));
		MethodHandle filtered = MethodHandles.filterReturnValue(h, h);
		IntUnaryOperator lambda = v -> locked(v);
		IntUnaryOperator reference = Calls::handled;
		Calls self = new Calls();
		List<Integer> list = new ArrayList<>(Arrays.asList(3, 1, 2));

		for (int i = 0; i < 100; i++) {
			sink += (Integer) m.invoke(null, i);
			sink += (int) h.invokeExact(i);
			sink += (int) filtered.invokeExact(i);
			sink += lambda.applyAsInt(i);
			sink += reference.applyAsInt(i);
			sink += Shape.of(i).sides();
			sink += self.lockedThis(i);
			sink += pick(i % 5);
			sink += (long) wide(1, 2, 3, 4);
		}
		list.sort((a, b) -> compare(a, b));
		total(".reflected", 100);
		total(".handled", 100 + 200 + 100);
		total(".locked", 200);
		path("Calls.ways;Calls.lambda$ways$0;Calls.locked", 100);
		path("Calls.ways;Calls.lockedThis;Calls.locked", 100);
		total("$Shape.of", 100);
		path("Calls.ways;Calls$Even.sides;Calls$Shape.sides;Calls$Even.count", 50);
		path("Calls.ways;Calls$Shape.sides;Calls$Shape.lambda$of$0", 50);
		path("Calls.ways;Calls$Shape.of;Calls$Even.<init>", 50);
		total(".pick", 100);
		total(".wide", 100);
		total(".compare", compared);
	}

	static int compared;

	static int compare(int a, int b) {
		compared++;
		return a - b;
	}

	/* --- deep stacks --- */

	static int depth;

	static void overflow() {
		depth++;
		overflow();
	}

	static void deep() {
		long all = 0;

		for (int i = 0; i < 5; i++) {
			depth = 0;
			try {
				overflow();
			} catch (StackOverflowError e) {
				after();
			}
			all += depth;
		}
		total(".overflow", all);
		path("Calls.deep;Calls.after", 5);
		path("Calls.deep;Calls.overflow", 5);
	}

	/* --- threads --- */

	static final AtomicLong done = new AtomicLong();

	static void work() { step(); step(); }

	static void step() { done.incrementAndGet(); }

	static void task() { step(); }

	static void worker() {
		for (int i = 0; i < 10000; i++)
			work();
	}

	static void threads() throws Exception {
		Thread[] t = new Thread[8];

		for (int i = 0; i < t.length; i++) {
			t[i] = new Thread(Calls::worker, "worker-" + i);
			t[i].start();
		}
		for (Thread x : t)
			x.join();
		ExecutorService pool = Executors.newFixedThreadPool(4);
		for (int i = 0; i < 10000; i++)
			pool.execute(Calls::task);
		pool.shutdown();
		pool.awaitTermination(1, TimeUnit.MINUTES);
		total(".work", 80000);
		total(".task", 10000);
		total(".step", 170000);
		path("Calls.worker;Calls.work;Calls.step", 160000);
		path("Calls.task;Calls.step", 10000);
	}

	public static void main(String[] args) throws Throwable {
		recursion();
		exceptions();
		constructors();
		ways();
		deep();
		threads();
		System.out.print(wanted);
	}
}
