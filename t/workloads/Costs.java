// SPDX-License-Identifier: GPL-2.0-or-later

/**
 * Calls of methods of all kinds, many times each, for what it costs to count them: "plain" methods call the
 * "bare" ones, which are not to be instrumented, "hooked" methods the same ones under another name.
 * t/perf/calibrate-java.sh records it. Argument: levels of recursion, each a repetition.
 */
public final class Costs {
	static final int CALLS = 10000, WARM_UP = 20000;
	static final RuntimeException oops = new RuntimeException(null, null, false, false) { };

	interface Shape {
		void area();
		void bare_area();
	}

	static final class Square implements Shape {
		public void area() { }
		public void bare_area() { }
	}

	static final class Circle implements Shape {
		public void area() { }
		public void bare_area() { }
	}

	static final class Line implements Shape {
		public void area() { }
		public void bare_area() { }
	}

	static final Shape[] shapes = { new Square(), new Circle(), new Line(), new Square() };
	static final Square square = new Square();
	static final int[] numbers = new int[64];
	static final Runtime runtime = Runtime.getRuntime();
	static int state = 1;

	static void empty() { }
	static void bare_empty() { }

	static synchronized void locked() { }
	static synchronized void bare_locked() { }

	static void thrown() { throw oops; }
	static void bare_thrown() { throw oops; }

	static void nested() { empty(); }
	static void bare_nested() { bare_empty(); }

	static void native_code() { state += (int) runtime.totalMemory(); }
	static void bare_native_code() { state += (int) runtime.totalMemory(); }

	static void array() {
		int sum = 0;

		for (int n : numbers)
			sum += n;
		state = sum;
	}

	static void bare_array() {
		int sum = 0;

		for (int n : numbers)
			sum += n;
		state = sum;
	}

	static void chain() {
		int x = state;

		for (int i = 0; i < 24; i++)
			x = x * -1403630843 ^ x >>> 7;
		state = x;
	}

	static void bare_chain() {
		int x = state;

		for (int i = 0; i < 24; i++)
			x = x * -1403630843 ^ x >>> 7;
		state = x;
	}

	static void plain_static(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			bare_empty();
		if (levels > 1)
			plain_static(levels - 1, calls);
	}

	static void hooked_static(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			empty();
		if (levels > 1)
			hooked_static(levels - 1, calls);
	}

	static void plain_virtual(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			square.bare_area();
		if (levels > 1)
			plain_virtual(levels - 1, calls);
	}

	static void hooked_virtual(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			square.area();
		if (levels > 1)
			hooked_virtual(levels - 1, calls);
	}

	/* Three receivers: nothing is inlined, and a caller has three callees by turns. */
	static void plain_interface(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			shapes[i & 3].bare_area();
		if (levels > 1)
			plain_interface(levels - 1, calls);
	}

	static void hooked_interface(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			shapes[i & 3].area();
		if (levels > 1)
			hooked_interface(levels - 1, calls);
	}

	static void plain_synchronized(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			bare_locked();
		if (levels > 1)
			plain_synchronized(levels - 1, calls);
	}

	static void hooked_synchronized(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			locked();
		if (levels > 1)
			hooked_synchronized(levels - 1, calls);
	}

	static void plain_thrown(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			try {
				bare_thrown();
			} catch (RuntimeException e) {
			}
		if (levels > 1)
			plain_thrown(levels - 1, calls);
	}

	static void hooked_thrown(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			try {
				thrown();
			} catch (RuntimeException e) {
			}
		if (levels > 1)
			hooked_thrown(levels - 1, calls);
	}

	/* Two calls an iteration, one in the other. */
	static void plain_nested(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			bare_nested();
		if (levels > 1)
			plain_nested(levels - 1, calls);
	}

	static void hooked_nested(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			nested();
		if (levels > 1)
			hooked_nested(levels - 1, calls);
	}

	/* Two calls an iteration, one after the other. */
	static void plain_siblings(int levels, int calls) {
		for (int i = 0; i < calls; i++) {
			bare_empty();
			square.bare_area();
		}
		if (levels > 1)
			plain_siblings(levels - 1, calls);
	}

	static void hooked_siblings(int levels, int calls) {
		for (int i = 0; i < calls; i++) {
			empty();
			square.area();
		}
		if (levels > 1)
			hooked_siblings(levels - 1, calls);
	}

	static void plain_native(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			bare_native_code();
		if (levels > 1)
			plain_native(levels - 1, calls);
	}

	static void hooked_native(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			native_code();
		if (levels > 1)
			hooked_native(levels - 1, calls);
	}

	static void plain_array(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			bare_array();
		if (levels > 1)
			plain_array(levels - 1, calls);
	}

	static void hooked_array(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			array();
		if (levels > 1)
			hooked_array(levels - 1, calls);
	}

	static void plain_chain(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			bare_chain();
		if (levels > 1)
			plain_chain(levels - 1, calls);
	}

	static void hooked_chain(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			chain();
		if (levels > 1)
			hooked_chain(levels - 1, calls);
	}

	static void run(int levels, int calls) {
		plain_static(levels, calls);
		hooked_static(levels, calls);
		plain_virtual(levels, calls);
		hooked_virtual(levels, calls);
		plain_interface(levels, calls);
		hooked_interface(levels, calls);
		plain_synchronized(levels, calls);
		hooked_synchronized(levels, calls);
		plain_thrown(levels, calls);
		hooked_thrown(levels, calls);
		plain_nested(levels, calls);
		hooked_nested(levels, calls);
		plain_siblings(levels, calls);
		hooked_siblings(levels, calls);
		plain_native(levels, calls);
		hooked_native(levels, calls);
		plain_array(levels, calls);
		hooked_array(levels, calls);
		plain_chain(levels, calls);
		hooked_chain(levels, calls);
	}

	/* Other contexts than the warm-up's. */
	static void measure(int levels) {
		run(levels, CALLS);
	}

	public static void main(String[] args) {
		for (int i = 0; i < WARM_UP; i++)
			run(2, 1 + i % 16);
		measure(args.length > 0 ? Integer.parseInt(args[0]) : 100);
	}
}
