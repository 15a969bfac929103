// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that end others' waits in methods that are known: usage: Wakes SECONDS
//	patient		is parked until
//	donor		unparks it in afterShort() and afterLong() in turn
//	enterer		wants the monitor that
//	holder		has for 20 ms, in hold()
// Prints how many ms the patient waited until each of the two methods unparked it: "afterShort 310.5".

import java.util.concurrent.locks.LockSupport;

public class Wakes {
	private static final Object lock = new Object();
	private static final long[] waited = new long[2];
	private static volatile boolean over, given;
	private static volatile int kind;
	private static volatile long givenNs;

	private static void nap(long ms) {
		try {
			Thread.sleep(ms);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	private static void give(Thread t, int k) {
		kind = k;
		givenNs = System.nanoTime();
		given = true;
		LockSupport.unpark(t);
	}

	private static void afterShort(Thread t) {
		nap(4);
		give(t, 0);
	}

	private static void afterLong(Thread t) {
		nap(16);
		give(t, 1);
	}

	private static void waitUntilTaken() {
		while (given && !over)
			nap(1);
	}

	private static void hold(long ms) {
		synchronized (lock) {
			nap(ms);
		}
	}

	private static void take() {
		while (!over) {
			long since = System.nanoTime();

			while (!given && !over)
				LockSupport.park(lock);
			if (given && givenNs > since)
				waited[kind] += givenNs - since;
			given = false;
		}
	}

	public static void main(String[] args) throws Exception {
		double seconds = Double.parseDouble(args[0]);
		Thread patient = new Thread(Wakes::take, "patient");
		Thread donor = new Thread(() -> {
			while (!over) {
				afterShort(patient);
				waitUntilTaken();
				afterLong(patient);
				waitUntilTaken();
			}
		}, "donor");
		Thread holder = new Thread(() -> {
			while (!over) {
				hold(20);
				nap(5);
			}
		}, "holder");
		Thread enterer = new Thread(() -> {
			while (!over) {
				hold(0);
				nap(3);
			}
		}, "enterer");

		for (Thread t : new Thread[] { patient, donor, holder, enterer })
			t.start();
		nap((long) (seconds * 1000));
		over = true;
		LockSupport.unpark(patient);
		for (Thread t : new Thread[] { patient, donor, holder, enterer })
			t.join();
		System.out.printf("afterShort %.1f%nafterLong %.1f%n", waited[0] / 1e6, waited[1] / 1e6);
	}
}
