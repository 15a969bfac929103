// SPDX-License-Identifier: MIT

/**
 * What trainer.c is, for JVMs: calls methods many times, instrumented and not ("bare"), in turns that are one
 * inside the other, each with contexts of its own. The loops of the others are not instrumented either: with
 * call sites an instrumented method says where it is before any call.
 *
 * With an argument it does what trainer.c does with it; exceptions are of Java alone.
 *
 * All is compiled before it is measured: what calls cost in interpreted code is more, and which of the two a
 * call will be nobody knows when it is counted, unless the recording tells tiers apart. Then options of the JVM
 * choose one; with "interpreted" there are fewer turns, as each takes longer.
 */
public final class Trainer {
	static final int TURNS = 150, VERIFY_TURNS = 60, CALLS = 2000, STEPS = 24, LONG_STEPS = 96, STORES = 200,
			WARM_UP = 20000, TRACE_TURNS = 20, TRACE_WARM_UP = 800, INTERPRETED_TURNS = 40;

	static final RuntimeException oops = new RuntimeException();
	static int state = 1;
	static final int[] sink = new int[16];

	static void bare_chain_of(int steps) {
		int x = state;

		for (int i = 0; i < steps; i++)
			x = x * -1403630843 ^ x >>> 7;
		state = x;
	}

	static void bare_stores_of(int steps) {
		for (int i = 0; i < steps; i++) {
			int x = i * -1403630843;

			sink[i & 15] = x ^ x >>> 7;
		}
	}

	static void bare_empty() { }

	static void empty() { }

	static void bare_chain() { bare_chain_of(STEPS); }

	static void chain() { bare_chain_of(STEPS); }

	static void bare_long_chain() { bare_chain_of(LONG_STEPS); }

	static void bare_stores() { bare_stores_of(STORES); }

	static void stores() { bare_stores_of(STORES); }

	static void long_chain() { bare_chain_of(LONG_STEPS); }

	static void bare_empty_loop(int calls) {
		for (int i = 0; i < calls; i++)
			bare_empty();
	}

	static void plain_empty(int calls) { bare_empty_loop(calls); }

	static void hooked_empty(int calls) {
		for (int i = 0; i < calls; i++)
			empty();
	}

	static void bare_chain_loop(int calls) {
		for (int i = 0; i < calls; i++)
			bare_chain();
	}

	static void plain_chain(int calls) { bare_chain_loop(calls); }

	static void hooked_chain(int calls) {
		for (int i = 0; i < calls; i++)
			chain();
	}

	static void bare_long_loop(int calls) {
		for (int i = 0; i < calls; i++)
			bare_long_chain();
	}

	static void plain_long(int calls) { bare_long_loop(calls); }

	static void hooked_long(int calls) {
		for (int i = 0; i < calls; i++)
			long_chain();
	}

	static void bare_stores_loop(int calls) {
		for (int i = 0; i < calls; i++)
			bare_stores();
	}

	static void plain_stores(int calls) { bare_stores_loop(calls); }

	static void hooked_stores(int calls) {
		for (int i = 0; i < calls; i++)
			stores();
	}

	static void bare_caller_loop(int calls) {
		int x = state;

		for (int i = 0; i < calls; i++) {
			bare_empty();
			for (int k = 0; k < STEPS; k++)
				x = x * -1403630843 ^ x >>> 7;
		}
		state = x;
	}

	static void plain_caller(int calls) { bare_caller_loop(calls); }

	static void hooked_caller(int calls) {
		int x = state;

		for (int i = 0; i < calls; i++) {
			empty();
			for (int k = 0; k < STEPS; k++)
				x = x * -1403630843 ^ x >>> 7;
		}
		state = x;
	}

	static void turn(int turns, int calls) {
		plain_empty(calls);
		hooked_empty(calls);
		plain_chain(calls);
		hooked_chain(calls);
		plain_long(calls);
		hooked_long(calls);
		plain_stores(calls);
		hooked_stores(calls);
		plain_caller(calls);
		hooked_caller(calls);
		plain_thrown(calls);
		hooked_thrown(calls);
		if (turns > 1)
			turn(turns - 1, calls);
	}

	static void bare_chain_8() { bare_chain_of(8); }

	static void chain_8() { bare_chain_of(8); }

	static void plain_chain_8(int calls) {
		for (int i = 0; i < calls; i++)
			bare_chain_8();
	}

	static void hooked_chain_8(int calls) {
		for (int i = 0; i < calls; i++)
			chain_8();
	}

	static void bare_chain_25() { bare_chain_of(25); }

	static void chain_25() { bare_chain_of(25); }

	static void plain_chain_25(int calls) {
		for (int i = 0; i < calls; i++)
			bare_chain_25();
	}

	static void hooked_chain_25(int calls) {
		for (int i = 0; i < calls; i++)
			chain_25();
	}

	static void bare_chain_75() { bare_chain_of(75); }

	static void chain_75() { bare_chain_of(75); }

	static void plain_chain_75(int calls) {
		for (int i = 0; i < calls; i++)
			bare_chain_75();
	}

	static void hooked_chain_75(int calls) {
		for (int i = 0; i < calls; i++)
			chain_75();
	}

	static void bare_chain_250() { bare_chain_of(250); }

	static void chain_250() { bare_chain_of(250); }

	static void plain_chain_250(int calls) {
		for (int i = 0; i < calls; i++)
			bare_chain_250();
	}

	static void hooked_chain_250(int calls) {
		for (int i = 0; i < calls; i++)
			chain_250();
	}

	static void bare_chain_750() { bare_chain_of(750); }

	static void chain_750() { bare_chain_of(750); }

	static void plain_chain_750(int calls) {
		for (int i = 0; i < calls; i++)
			bare_chain_750();
	}

	static void hooked_chain_750(int calls) {
		for (int i = 0; i < calls; i++)
			chain_750();
	}

	static void bare_stores_20() { bare_stores_of(20); }

	static void stores_20() { bare_stores_of(20); }

	static void plain_stores_20(int calls) {
		for (int i = 0; i < calls; i++)
			bare_stores_20();
	}

	static void hooked_stores_20(int calls) {
		for (int i = 0; i < calls; i++)
			stores_20();
	}

	static void bare_stores_60() { bare_stores_of(60); }

	static void stores_60() { bare_stores_of(60); }

	static void plain_stores_60(int calls) {
		for (int i = 0; i < calls; i++)
			bare_stores_60();
	}

	static void hooked_stores_60(int calls) {
		for (int i = 0; i < calls; i++)
			stores_60();
	}

	static void bare_stores_200() { bare_stores_of(200); }

	static void stores_200() { bare_stores_of(200); }

	static void plain_stores_200(int calls) {
		for (int i = 0; i < calls; i++)
			bare_stores_200();
	}

	static void hooked_stores_200(int calls) {
		for (int i = 0; i < calls; i++)
			stores_200();
	}

	static void bare_stores_600() { bare_stores_of(600); }

	static void stores_600() { bare_stores_of(600); }

	static void plain_stores_600(int calls) {
		for (int i = 0; i < calls; i++)
			bare_stores_600();
	}

	static void hooked_stores_600(int calls) {
		for (int i = 0; i < calls; i++)
			stores_600();
	}

	static void bare_stores_2000() { bare_stores_of(2000); }

	static void stores_2000() { bare_stores_of(2000); }

	static void plain_stores_2000(int calls) {
		for (int i = 0; i < calls; i++)
			bare_stores_2000();
	}

	static void hooked_stores_2000(int calls) {
		for (int i = 0; i < calls; i++)
			stores_2000();
	}

	static void lengths(int turns, int calls) {
		plain_empty(calls);
		plain_chain_8(calls);
		hooked_chain_8(calls);
		plain_chain_25(calls);
		hooked_chain_25(calls);
		plain_chain_75(calls);
		hooked_chain_75(calls);
		plain_chain_250(calls);
		hooked_chain_250(calls);
		plain_chain_750(calls);
		hooked_chain_750(calls);
		plain_stores_20(calls);
		hooked_stores_20(calls);
		plain_stores_60(calls);
		hooked_stores_60(calls);
		plain_stores_200(calls);
		hooked_stores_200(calls);
		plain_stores_600(calls);
		hooked_stores_600(calls);
		plain_stores_2000(calls);
		hooked_stores_2000(calls);
		if (turns > 1)
			lengths(turns - 1, calls);
	}

	static void bare_outer() { bare_empty(); }

	static void outer() { empty(); }

	static void bare_thrown() { throw oops; }

	static void thrown() { throw oops; }

	static void bare_through() { bare_thrown(); }

	static void through() { thrown(); }

	static void bare_late() {
		bare_empty();
		throw oops;
	}

	static void late() {
		empty();
		throw oops;
	}

	static void bare_caught() {
		try {
			bare_thrown();
		} catch (RuntimeException e) {
		}
	}

	static void caught() {
		try {
			thrown();
		} catch (RuntimeException e) {
		}
	}

	static void plain_nested(int calls) {
		for (int i = 0; i < calls; i++)
			bare_outer();
	}

	static void hooked_nested(int calls) {
		for (int i = 0; i < calls; i++)
			outer();
	}

	static void bare_thrown_loop(int calls) {
		for (int i = 0; i < calls; i++)
			try {
				bare_thrown();
			} catch (RuntimeException e) {
			}
	}

	static void plain_thrown(int calls) { bare_thrown_loop(calls); }

	static void hooked_thrown(int calls) {
		for (int i = 0; i < calls; i++)
			try {
				thrown();
			} catch (RuntimeException e) {
			}
	}

	static void plain_through(int calls) {
		for (int i = 0; i < calls; i++)
			try {
				bare_through();
			} catch (RuntimeException e) {
			}
	}

	static void hooked_through(int calls) {
		for (int i = 0; i < calls; i++)
			try {
				through();
			} catch (RuntimeException e) {
			}
	}

	static void plain_late(int calls) {
		for (int i = 0; i < calls; i++)
			try {
				bare_late();
			} catch (RuntimeException e) {
			}
	}

	static void hooked_late(int calls) {
		for (int i = 0; i < calls; i++)
			try {
				late();
			} catch (RuntimeException e) {
			}
	}

	static void plain_caught(int calls) {
		for (int i = 0; i < calls; i++)
			bare_caught();
	}

	static void hooked_caught(int calls) {
		for (int i = 0; i < calls; i++)
			caught();
	}

	static void sequences(int turns, int calls) {
		plain_nested(calls);
		hooked_nested(calls);
		plain_thrown(calls);
		hooked_thrown(calls);
		plain_through(calls);
		hooked_through(calls);
		plain_late(calls);
		hooked_late(calls);
		plain_caught(calls);
		hooked_caught(calls);
		if (turns > 1)
			sequences(turns - 1, calls);
	}

	/* Other contexts than the warm-up's. */
	static void measure(String what) {
		if (what.equals("verify"))
			lengths(VERIFY_TURNS, CALLS);
		else if (what.equals("trace"))
			sequences(TRACE_TURNS, CALLS);
		else
			turn(what.equals("interpreted") ? INTERPRETED_TURNS : TURNS, CALLS);
	}

	public static void main(String[] args) {
		String what = args.length > 0 ? args[0] : "";

		/* of a call trace no more than is needed: each call of it is stored; nor of what is not compiled */
		for (int i = 0; i < (what.equals("trace") || what.equals("interpreted") ? TRACE_WARM_UP : WARM_UP); i++)
			if (what.equals("verify"))
				lengths(2, 1 + i % 16);
			else if (what.equals("trace"))
				sequences(2, 16);
			else
				turn(2, 1 + i % 16);
		measure(what);
		System.out.println(System.getProperty("java.vm.version") + " (" + System.getProperty("java.vm.vendor") + ")");
	}
}
