// SPDX-License-Identifier: GPL-2.0-or-later
import java.lang.reflect.Method;

/**
 * A thread is stopped (Thread.stop, up to JDK 19) in the middle of its calls, as often as the argument says, and goes
 * on each time with calls whose number and contexts are known; those it prints, as Calls does.
 */
public class Stops {
	static final int CALLS = 20;
	static volatile boolean spins, stop;
	static volatile int deaths;
	static volatile long sink;

	static void tiny() {
		sink++;
	}

	static int deep(int n) {
		tiny();
		return n == 0 ? 0 : deep(n - 1) + 1;
	}

	static int caught(int n) {
		try {
			return deep(n);
		} catch (ThreadDeath d) {
			throw d;
		}
	}

	static void spin() {
		for (spins = true;;)
			caught(3);
	}

	static void leaf() {
		sink++;
	}

	static void after() {
		for (int i = 0; i < CALLS; i++)
			leaf();
	}

	static void round() {
		try {
			spin();
		} catch (ThreadDeath d) {
			spins = false;
			deaths++;
		}
		after();
	}

	static void rounds() {
		while (!stop)
			round();
	}

	public static void main(String[] args) throws Exception {
		int n = Integer.parseInt(args[0]);
		Method kill = Thread.class.getMethod("stop");
		Thread t = new Thread(Stops::rounds, "stopped");
		t.start();
		for (int i = 1; i <= n; i++) {
			while (!spins)
				Thread.onSpinWait();
			for (long end = System.nanoTime() + i % 97 * 1000; System.nanoTime() < end;)
				Thread.onSpinWait();
			if (i == n)
				stop = true;
			kill.invoke(t);
			while (deaths < i)
				Thread.onSpinWait();
		}
		t.join();
		System.out.println("path Stops.rounds;Stops.round " + n);
		System.out.println("path Stops.round;Stops.after " + n);
		System.out.println("path Stops.after;Stops.leaf " + n * CALLS);
		System.out.println("total Stops.round " + n);
		System.out.println("total Stops.after " + n);
		System.out.println("total Stops.leaf " + n * CALLS);
	}
}
