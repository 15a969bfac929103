// SPDX-License-Identifier: MIT

/**
 * What trainer.c is, for JVMs: calls methods many times, instrumented and not ("bare"). Each level of
 * recursion is a context of its own, and so a repetition of the measurement.
 *
 * All is compiled before it is measured: what calls cost in interpreted code is more, and which of the two a
 * call will be nobody knows when it is counted.
 */
public final class Trainer {
	static final int LEVELS = 100, LONG_LEVELS = 30, CALLS = 10000, STEPS = 24, LONG_STEPS = 96, WARM_UP = 20000;

	static int state = 1;

	static void bare_empty() { }

	static void empty() { }

	static void bare_chain() {
		int x = state;

		for (int i = 0; i < STEPS; i++)
			x = x * -1403630843 ^ x >>> 7;
		state = x;
	}

	static void chain() {
		int x = state;

		for (int i = 0; i < STEPS; i++)
			x = x * -1403630843 ^ x >>> 7;
		state = x;
	}

	static void bare_long_chain() {
		int x = state;

		for (int i = 0; i < LONG_STEPS; i++)
			x = x * -1403630843 ^ x >>> 7;
		state = x;
	}

	static void long_chain() {
		int x = state;

		for (int i = 0; i < LONG_STEPS; i++)
			x = x * -1403630843 ^ x >>> 7;
		state = x;
	}

	static void plain_empty(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			bare_empty();
		if (levels > 1)
			plain_empty(levels - 1, calls);
	}

	static void hooked_empty(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			empty();
		if (levels > 1)
			hooked_empty(levels - 1, calls);
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

	static void plain_long(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			bare_long_chain();
		if (levels > 1)
			plain_long(levels - 1, calls);
	}

	static void hooked_long(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			long_chain();
		if (levels > 1)
			hooked_long(levels - 1, calls);
	}

	static void plain_caller(int levels, int calls) {
		int x = state;

		for (int i = 0; i < calls; i++) {
			bare_empty();
			for (int k = 0; k < STEPS; k++)
				x = x * -1403630843 ^ x >>> 7;
		}
		state = x;
		if (levels > 1)
			plain_caller(levels - 1, calls);
	}

	static void hooked_caller(int levels, int calls) {
		int x = state;

		for (int i = 0; i < calls; i++) {
			empty();
			for (int k = 0; k < STEPS; k++)
				x = x * -1403630843 ^ x >>> 7;
		}
		state = x;
		if (levels > 1)
			hooked_caller(levels - 1, calls);
	}

	static void train(int levels, int long_levels, int calls) {
		plain_empty(levels, calls);
		hooked_empty(levels, calls);
		plain_chain(levels, calls);
		hooked_chain(levels, calls);
		plain_long(long_levels, calls);
		hooked_long(long_levels, calls);
		plain_caller(levels, calls);
		hooked_caller(levels, calls);
	}

	/* Other contexts than the warm-up's. */
	static void measure() {
		train(LEVELS, LONG_LEVELS, CALLS);
	}

	public static void main(String[] args) {
		for (int i = 0; i < WARM_UP; i++)
			train(2, 2, 1 + i % 16);
		measure();
		System.out.println(System.getProperty("java.vm.version") + " (" + System.getProperty("java.vm.vendor") + ")");
	}
}
