// SPDX-License-Identifier: MIT

/**
 * What trainer.c is, for JVMs: calls methods many times, instrumented and not ("bare"). Each level of
 * recursion is a context of its own, and so a repetition of the measurement.
 *
 * With an argument it calls methods of several lengths instead, as trainer.c does.
 *
 * All is compiled before it is measured: what calls cost in interpreted code is more, and which of the two a
 * call will be nobody knows when it is counted.
 */
public final class Trainer {
	static final int LEVELS = 100, LONG_LEVELS = 30, LENGTH_LEVELS = 20, CALLS = 10000, STEPS = 24, LONG_STEPS = 96, WARM_UP = 20000;

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

	static void bare_work(int steps) {
		int x = state;

		for (int i = 0; i < steps; i++)
			x = x * -1403630843 ^ x >>> 7;
		state = x;
	}

	static void bare_8() { bare_work(8); }

	static void of_8() { bare_work(8); }

	static void plain_8(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			bare_8();
		if (levels > 1)
			plain_8(levels - 1, calls);
	}

	static void hooked_8(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			of_8();
		if (levels > 1)
			hooked_8(levels - 1, calls);
	}

	static void bare_25() { bare_work(25); }

	static void of_25() { bare_work(25); }

	static void plain_25(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			bare_25();
		if (levels > 1)
			plain_25(levels - 1, calls);
	}

	static void hooked_25(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			of_25();
		if (levels > 1)
			hooked_25(levels - 1, calls);
	}

	static void bare_75() { bare_work(75); }

	static void of_75() { bare_work(75); }

	static void plain_75(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			bare_75();
		if (levels > 1)
			plain_75(levels - 1, calls);
	}

	static void hooked_75(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			of_75();
		if (levels > 1)
			hooked_75(levels - 1, calls);
	}

	static void bare_250() { bare_work(250); }

	static void of_250() { bare_work(250); }

	static void plain_250(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			bare_250();
		if (levels > 1)
			plain_250(levels - 1, calls);
	}

	static void hooked_250(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			of_250();
		if (levels > 1)
			hooked_250(levels - 1, calls);
	}

	static void bare_750() { bare_work(750); }

	static void of_750() { bare_work(750); }

	static void plain_750(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			bare_750();
		if (levels > 1)
			plain_750(levels - 1, calls);
	}

	static void hooked_750(int levels, int calls) {
		for (int i = 0; i < calls; i++)
			of_750();
		if (levels > 1)
			hooked_750(levels - 1, calls);
	}

	static void lengths(int levels, int calls) {
		plain_empty(levels, calls);
		plain_8(levels, calls);
		hooked_8(levels, calls);
		plain_25(levels, calls);
		hooked_25(levels, calls);
		plain_75(levels, calls);
		hooked_75(levels, calls);
		plain_250(levels, calls);
		hooked_250(levels, calls);
		plain_750(levels, calls);
		hooked_750(levels, calls);
	}

	static void measure_lengths() {
		lengths(LENGTH_LEVELS, CALLS);
	}

	public static void main(String[] args) {
		for (int i = 0; i < WARM_UP; i++)
			if (args.length == 0)
				train(2, 2, 1 + i % 16);
			else
				lengths(2, 1 + i % 16);
		if (args.length == 0)
			measure();
		else
			measure_lengths();
		System.out.println(System.getProperty("java.vm.version") + " (" + System.getProperty("java.vm.vendor") + ")");
	}
}
