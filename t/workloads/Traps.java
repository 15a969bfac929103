// SPDX-License-Identifier: GPL-2.0-or-later

import java.util.concurrent.atomic.AtomicInteger;
import sun.misc.Signal;

/** Has a handler of its own for the signal that samples come by, raises it now and then, and says how often that was handled. With an argument, that library has the handler. */
public class Traps {
	static long sink;

	static void burn(long ms) {
		long end = System.nanoTime() + ms * 1000000;
		while (System.nanoTime() < end)
			for (int i = 0; i < 10000; i++)
				sink = sink * 6364136223846793005L + 1442695040888963407L;
	}

	public static void main(String[] args) throws InterruptedException {
		AtomicInteger handled = new AtomicInteger();
		Signal trap = new Signal("TRAP");

		if (args.length > 0)
			System.load(args[0]);
		else
			Signal.handle(trap, s -> handled.incrementAndGet());
		for (int i = 0; i < 5; i++) {
			if (args.length == 0)
				Signal.raise(trap);
			burn(120);
		}
		Thread.sleep(100);
		System.out.println(handled + " handled");
	}
}
