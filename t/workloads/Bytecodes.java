// SPDX-License-Identifier: GPL-2.0-or-later

/**
 * Executes the same bytecodes in each run. Prints "bytecodes <method> <number>" of what javac's code of a loop is
 * known to execute.
 */
public final class Bytecodes {
	static final class Stop extends RuntimeException {
		Stop() { super(null, null, false, false); }
	}

	static class Base {
		final int value;
		Base(int value) { this.value = value; }
	}

	static final class Chosen extends Base {
		Chosen(int n) { super(n % 2 == 0 ? n : -n); }
	}

	static int n;

	/** Four, three for each look at the condition, six for each round, two. */
	static int sum(int end) {
		int sum = 0;
		for (int i = 0; i < end; i++)
			sum += i;
		return sum;
	}

	static int choose(int i, String s) {
		switch (i % 5) {
		case 0: return i;
		case 1: n++;
		case 2: break;
		case 1000: return 2;
		default: i += 1000;
		}
		switch (s) {
		case "one": return i;
		case "two": return i + 1;
		default: return s.isEmpty() ? 0 : 3;
		}
	}

	static void throwsIt() { throw new Stop(); }

	/** The return after the call is never executed, and counted with the block that it is in. */
	static void passes() { throwsIt(); }

	/** The jump over the handler as well. */
	static void catches() {
		try {
			passes();
		} catch (Stop s) {
			n += s.getMessage() == null ? 1 : 2;
		}
	}

	static void locked(Object lock, int i) {
		try {
			synchronized (lock) {
				n++;
				if (i % 3 == 0)
					throw new Stop();
				n += 2;
			}
		} catch (Stop s) {
			n++;
		}
	}

	@SuppressWarnings("finally")
	static int inFinally(int i) {
		try {
			if (i % 2 == 0)
				throw new Stop();
			return n;
		} finally {
			n++;
			if (i % 4 == 0)
				return i;
			if (i % 4 == 2)
				return n;
		}
	}

	static long fib(long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

	public static void main(String[] args) {
		Object lock = new Object();

		for (int i = 0; i < 100; i++) {
			sum(i);
			choose(i, i % 3 == 0 ? "one" : i % 3 == 1 ? "two" : "");
			n += new Chosen(i).value;
			catches();
			locked(lock, i);
			inFinally(i);
		}
		fib(15);
		sum(1000);
		System.out.println("bytecodes Bytecodes.sum " + (9 * (99 * 100 / 2 + 1000) + 9 * 101));
	}
}
