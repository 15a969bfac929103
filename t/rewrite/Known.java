// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Does what it knows the counts of, and prints them: "class method descriptor entered returned thrown
 * unseen", and "arc caller callee times".  Compiled for JDK 8, it has nothing that the class file of JDK 1.1
 * cannot say.  Unseen is what leaves a constructor by its call of super() or this(); with -Dold=true
 * (class files before version 50) that is seen.
 */
public class Known {
	static boolean old = Boolean.getBoolean("old");
	static int ticks;

	static void expect(String method, int entered, int returned, int thrown, int unseen) {
		System.out.println(method + " " + entered + " " + returned + " " + (old ? thrown + unseen : thrown) + " "
			+ (old ? 0 : unseen));
	}

	static void arc(String caller, String callee, int n) {
		System.out.println("arc Known." + caller + " Known." + callee + " " + n);
	}

	static int fib(int n) {
		return n < 2 ? n : fib(n - 1) + fib(n - 2);
	}

	static int deep(int n) {
		return n == 0 ? 0 : 1 + deep(n - 1);
	}

	static void tick() {
		ticks++;
	}

	/* Throws at every third. */
	static int thrower(int i) {
		if (i % 3 == 0)
			throw new IllegalStateException();
		return i;
	}

	static int through(int i) {
		return thrower(i) + 1;
	}

	static int catches(int i) {
		try {
			return through(i);
		} catch (IllegalStateException e) {
			return -1;
		}
	}

	static int cleans(int i) {
		try {
			return thrower(i);
		} finally {
			tick();
		}
	}

	@SuppressWarnings("finally")
	static int swallows(int i) {
		try {
			return thrower(i);
		} finally {
			return -2;
		}
	}

	static int rethrows(int i) {
		try {
			return cleans(i);
		} catch (IllegalStateException e) {
			throw new IllegalArgumentException(e);
		}
	}

	static synchronized int locked(int i) {
		return thrower(i);
	}

	static int block(Object lock, int i) {
		synchronized (lock) {
			synchronized (Known.sync) {
				return thrower(i);
			}
		}
	}

	static final Object sync = new Object();

	static void exceptions() {
		Object lock = new Object();
		for (int i = 1; i <= 99; i++) {
			catches(i);
			swallows(i);
			try {
				rethrows(i);
			} catch (IllegalArgumentException e) {
				tick();
			}
			try {
				locked(i);
			} catch (IllegalStateException e) {
				tick();
			}
			try {
				block(lock, i);
			} catch (IllegalStateException e) {
				tick();
			}
		}
		if (Thread.holdsLock(lock) || Thread.holdsLock(sync))
			throw new AssertionError("a lock is still held");
		expect("Known through (I)I", 99, 66, 33, 0);
		expect("Known catches (I)I", 99, 99, 0, 0);
		expect("Known cleans (I)I", 99, 66, 33, 0);
		expect("Known swallows (I)I", 99, 99, 0, 0);
		expect("Known rethrows (I)I", 99, 66, 33, 0);
		expect("Known locked (I)I", 99, 66, 33, 0);
		expect("Known block (Ljava/lang/Object;I)I", 99, 66, 33, 0);
		arc("cleans", "tick", 99);
		arc("exceptions", "tick", 99);
	}

	static class Base {
		Base(int i) {
			if (i % 5 == 1)
				throw new IllegalArgumentException();
		}
	}

	static int check(int i, int wrong) {
		if (i % 5 == wrong)
			throw new IllegalStateException();
		return i;
	}

	static class Derived extends Base {
		final int x;

		Derived(int i, Object[] unused) {
			super(check(i, unused == null ? 0 : 4));
			x = check(i, 2);
		}

		Derived() {
			this(3, null);
		}
	}

	static class Chain {
		Chain() {
			this(1);
		}

		Chain(int i) {
			throw new IllegalStateException();
		}
	}

	/* A constructor in whose arguments other objects are made, and that catches. */
	static class Maker extends Derived {
		Object made;

		Maker(int i) {
			super(new Derived(3, null).x + i - 3, i > 1000 ? new Object[] { new Derived() } : null);
			try {
				made = new Derived(i + 1, null);
			} catch (RuntimeException e) {
				made = new Base(0);
			}
		}
	}

	static void after() {
		tick();
	}

	static void constructors() {
		for (int i = 0; i < 100; i++)
			try {
				new Derived(i, null);
				tick();
			} catch (RuntimeException e) {
				after();
			}
		for (int i = 0; i < 7; i++)
			try {
				new Chain();
			} catch (IllegalStateException e) {
				after();
			}
		for (int i = 0; i < 10; i++)
			new Derived();
		for (int i = 0; i < 5; i++)
			try {
				new Maker(i);
			} catch (RuntimeException e) {
				after();
			}
		// Maker(0): check of its super() throws in Derived's arguments, 1: in Base, 2: after Base;
		// 3 is made; its inner Derived(4) too.  4: made, and its inner Derived(5) throws in the arguments.
		expect("Known$Maker <init> (I)V", 5, 2, 0, 3);
		expect("Known$Derived <init> (I[Ljava/lang/Object;)V", 100 + 10 + 5 + 5 + 2, 40 + 10 + 5 + 2 + 1,
			20 + 20 + 1 + 1 + 1, 20 + 1);
		expect("Known$Derived <init> ()V", 10, 10, 0, 0);
		expect("Known$Base <init> (I)V", 80 + 10 + 5 + 4 + 1 + 1, 60 + 10 + 5 + 3 + 1 + 1, 20 + 1, 0);
		expect("Known$Chain <init> ()V", 7, 0, 0, 7);
		expect("Known$Chain <init> (I)V", 7, 0, 7, 0);
		arc("constructors", "after", 60 + 7 + 3);
		arc("constructors", "tick", 40);
	}

	static class Init {
		static int value = fib(5);
		static {
			for (int i = 0; i < 10; i++)
				value += i;
		}
	}

	static class Bad {
		static int value = thrower(3);
	}

	static void initialisers() {
		int sum = Init.value + Init.value;
		for (int i = 0; i < 3; i++)
			try {
				sum += Bad.value;
			} catch (LinkageError e) {
				tick();
			}
		expect("Known$Init <clinit> ()V", 1, 1, 0, 0);
		expect("Known$Bad <clinit> ()V", 1, 0, 1, 0);
		arc("initialisers", "tick", 3);
	}

	static int table(int i) {
		switch (i) {
		case 0: return 7;
		case 1: return fib(1);
		case 2: break;
		case 3: thrower(3);
		case 4: return 9;
		default: return -1;
		}
		return 5;
	}

	static long lookup(int i) {
		switch (i) {
		case -1000000: return 1L;
		case 17: return 2L;
		case 123456789: return 3L;
		}
		return 4L;
	}

	static double words(String s) {
		switch (s) {
		case "one": return 1;
		case "two": return 2;
		case "Aa": case "BB": return 3;		// the same hash
		default: return 0;
		}
	}

	static float real(float f) { return f * 2; }
	static Object object(Object o) { return o; }
	static void nothing() { }

	static void switches() {
		int i, caught = 0;
		double sum = 0;
		for (i = -2; i < 8; i++)
			try {
				sum += table(i);
			} catch (IllegalStateException e) {
				caught++;
			}
		sum += lookup(-1000000) + lookup(17) + lookup(123456789) + lookup(18) + lookup(Integer.MIN_VALUE);
		sum += words("one") + words("two") + words("Aa") + words("BB") + words("three");
		sum += real(1.5f) + ((String) object("four")).length();
		nothing();
		if (caught != 1 || sum != 7 + 1 + 5 + 9 - 5 + 1 + 2 + 3 + 4 + 4 + 9 + 3 + 4)
			throw new AssertionError(sum + ", caught " + caught);
		expect("Known table (I)I", 10, 9, 1, 0);
		expect("Known lookup (I)J", 5, 5, 0, 0);
		expect("Known words (Ljava/lang/String;)D", 5, 5, 0, 0);
		expect("Known real (F)F", 1, 1, 0, 0);
		expect("Known object (Ljava/lang/Object;)Ljava/lang/Object;", 1, 1, 0, 0);
	}

	static class Worker extends Thread {
		public void run() {
			for (int i = 0; i < 1000; i++)
				nothing();
		}
	}

	static void threads() throws InterruptedException {
		Worker[] all = new Worker[4];
		for (int i = 0; i < all.length; i++) {
			all[i] = new Worker();
			all[i].start();
		}
		for (Worker w : all)
			w.join();
		expect("Known$Worker run ()V", 4, 4, 0, 0);
	}

	public static void main(String[] args) throws Exception {
		fib(15);
		deep(2000);
		initialisers();
		exceptions();
		constructors();
		switches();
		threads();
		// fib: 1973 of fib(15), 15 of Init, 1 of table
		expect("Known fib (I)I", 1973 + 15 + 1, 1973 + 15 + 1, 0, 0);
		expect("Known thrower (I)I", 495 + 2, 330, 165 + 2, 0);		// and by Bad.<clinit> and table
		expect("Known nothing ()V", 4001, 4001, 0, 0);
		expect("Known deep (I)I", 2001, 2001, 0, 0);
		expect("Known main ([Ljava/lang/String;)V", 1, 1, 0, 0);
	}
}
