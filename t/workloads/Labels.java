// SPDX-License-Identifier: MIT
import arcprof.Event;
import arcprof.Label;
import arcprof.Mark;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/*
 * Threads that work for endpoints: "Labels platform|virtual THREADS ROUNDS", each with a burn() of 20 ms a round for /cart
 * and 2 of these for /pay, each within a label; between them, without one, it sleeps, so that a virtual thread is
 * mounted elsewhere: once within a label, too. Virtual ones come through Thread.ofVirtual(). "Labels cost N": ns of a
 * set() and close(), the best of rounds. Within /cart a CartGone is thrown each round, within /pay a PayGone, and
 * each sets a mark, ends a phase and emits an event of its name.
 */
public class Labels {
	static final Mark CART = new Mark("cart"), PAY = new Mark("pay");
	static final Event WORKED = new Event("worked", "for");
	static volatile long sink;

	/* CPU time of the thread: a virtual one has none of its own, so work is counted in steps. */
	static void burn(long steps) {
		long x = sink;

		for (long i = 0; i < steps; i++)
			x = x * 6364136223846793005L + 1442695040888963407L;
		sink = x;
	}

	static void forCart(long steps) {
		burn(steps);
	}

	static void forPay(long steps) {
		burn(steps);
	}

	static class CartGone extends RuntimeException {}

	static class PayGone extends RuntimeException {}

	static void fail(RuntimeException e) {
		try {
			throw e;
		} catch (RuntimeException x) {
			sink++;
		}
	}

	static void sleep() {
		try {
			Thread.sleep(1);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	static void round(int i, long steps) {
		try (Label tenant = Label.set("tenant", "acme")) {
			try (Label l = Label.set("endpoint", "/cart")) {
				long begun = Mark.begin();

				burn(steps / 2);
				sleep();	/* and goes on elsewhere, with its label */
				CART.set();
				CART.end(begun);
				WORKED.now().put("cart").emit();
				fail(new CartGone());
				forCart(steps / 2);
			}
			sleep();
			try (Label l = Label.set("endpoint", "/pay")) {
				long begun = Mark.begin();

				forPay(2 * steps);
				PAY.set();
				PAY.end(begun);
				WORKED.now().put("pay").emit();
				fail(new PayGone());
			}
		}
		try (Label l = Label.set("no key", "x")) {
			burn(steps / 4);
		}
	}

	static void cost(int n) {
		long best = Long.MAX_VALUE;

		for (int round = 0; round < 300; round++) {
			long begun = System.nanoTime();

			for (int i = 0; i < n; i++)
				Label.set("endpoint", "/cart").close();
			best = Math.min(best, (System.nanoTime() - begun) / n);
			sleep();
		}
		System.out.println(best);
	}

	public static void main(String[] args) throws Exception {
		if (args[0].equals("cost")) {
			cost(Integer.parseInt(args[1]));
			return;
		}
		int nr = Integer.parseInt(args[1]), rounds = Integer.parseInt(args[2]);
		List<Thread> threads = new ArrayList<>();
		long least = Long.MAX_VALUE;

		for (int i = 0; i < 6; i++) {	/* the first until it is compiled; of the others some without the CPU */
			long begun = System.nanoTime();

			burn(20_000_000);
			least = Math.min(least, Math.max(1, System.nanoTime() - begun));
		}
		final long steps = 20_000_000L * 20_000_000L / least;
		Runnable run = () -> {
			for (int i = 0; i < rounds; i++)
				round(i, steps);
		};

		for (int i = 0; i < nr; i++) {
			Thread t = args[0].equals("virtual") ? virtual(run) : new Thread(run, "worker-" + i);

			threads.add(t);
			if (!args[0].equals("virtual"))
				t.start();
		}
		for (Thread t : threads)
			t.join();
	}

	static Thread virtual(Runnable run) throws Exception {
		return (Thread)Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, run);
	}
}
