// SPDX-License-Identifier: GPL-2.0-or-later
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.IntUnaryOperator;

/**
 * Calls in every way from many lines. Prints "caller:line callee times" as the JVM's own stack traces have them, each
 * callee looking at its own.
 */
public final class Sites {
	static class Base {
		static final List<String> list = new ArrayList<>();
		static int used;

		static {
			Seen.note();
			used = helped(1);
		}

		static int helped(int n) {
			Seen.note();
			return n;
		}

		Base(int n) {
			Seen.note();
			used += n;
		}
	}

	static final class Derived extends Base implements Comparable<Object> {
		final int n;

		Derived(int n) {
			super(
				helped(n) +
				leaf());
			Seen.note();
			this.n = n;
		}

		@Override
		public int compareTo(Object o) {
			Seen.note();
			return Integer.compare(n, ((Derived) o).n);
		}

		@Override
		public String toString() {
			Seen.note();
			return "d" + n;
		}
	}

	/* Initialised by its field, which nothing else on that line calls for. */
	static final class Lazy {
		static int field;

		static {
			Seen.note();
			leaf();
		}
	}

	/* By a static method. */
	static final class Started {
		static {
			Seen.note();
		}

		static int begin() {
			Seen.note();
			return 1;
		}
	}

	static int leaf() {
		Seen.note();
		return 1;
	}

	static int twice(int n) {
		Seen.note();
		int sum = leaf() + leaf();
		if (n > 0)
			sum += leaf();
		else
			leaf();
		for (int i = 0; i < n; i++)
			sum += leaf()
				+ (i % 2 == 0
					? leaf()
					: twice(-1));
		return sum;
	}

	static int recursive(int n) {
		Seen.note();
		if (n == 0)
			return leaf();
		int first = recursive(n - 1);
		return first
			+ (n > 3 ? recursive(0) : 0);
	}

	static void throwing(int n) {
		Seen.note();
		if (n > 0)
			throwing(n - 1);
		throw new IllegalStateException();
	}

	static int caught(int n) {
		Seen.note();
		try {
			leaf();
			throwing(n);
		} catch (IllegalStateException e) {
			leaf();
		} finally {
			leaf();
		}
		return leaf();
	}

	static int chosen(int n) {
		Seen.note();
		switch (n) {
		case 0:
			leaf();
		case 1:
			leaf();
			break;
		default:
			return leaf();
		}
		synchronized (Sites.class) {
			n += leaf();
		}
		while (n > 0)
			n -= leaf();
		return n;
	}

	static int through(IntUnaryOperator f, int n) {
		Seen.note();
		return f.applyAsInt(n);
	}

	static String back() throws Exception {
		Seen.note();
		List<Derived> all = new ArrayList<>();
		for (int i = 0; i < 5; i++)
			all.add(new Derived(i * 3 % 5));
		all.sort(null);
		all.sort(Comparator.reverseOrder());
		through(Sites::recursive, 2);
		through(n -> {
			Seen.note();
			return leaf() + n;
		}, 1);
		Sites.class.getDeclaredMethod("leaf").invoke(null);
		Callable<Integer> c = Sites::leaf;
		c.call();
		return "all: " +
			all;
	}

	public static void main(String[] args) throws Exception {
		for (int round = 0; round < 3; round++) {
			twice(2);
			twice(3); twice(0);
			recursive(5);
			caught(0);
			caught(3);
			for (int i = 0; i < 4; i++)
				chosen(i);
		}
		Lazy.field++;
		leaf();
		Started.begin();
		back();
		Thread t = new Thread(Sites::leaf);
		t.start();
		t.join();
		leaf();
		Seen.print();
	}
}

/** Not counted. */
final class Seen {
	private static final TreeMap<String, Integer> times = new TreeMap<>();

	private static boolean counts(StackTraceElement e) {
		return e.getClassName().startsWith("Sites");
	}

	private static String name(StackTraceElement e) {
		return e.getClassName() + "." + e.getMethodName();
	}

	static synchronized void note() {
		StackTraceElement[] s = new Throwable().getStackTrace();
		int i = 2;
		while (i < s.length && !counts(s[i]))
			i++;
		if (i < s.length)
			times.merge(name(s[i]) + ":" + s[i].getLineNumber() + " " + name(s[1]), 1, Integer::sum);
	}

	static synchronized void print() {
		times.forEach((k, n) -> System.out.println(k + " " + n));
	}
}
