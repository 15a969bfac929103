// SPDX-License-Identifier: GPL-2.0-or-later
import java.util.concurrent.locks.LockSupport;

/** Starts NR threads that wait, one each millisecond, says so at the half of them, and ends after 20 s more. */
class Starts {
	public static void main(String[] args) throws InterruptedException {
		for (int i = 0; i < Integer.parseInt(args[0]); i++) {
			Thread t = new Thread(() -> {
				while (true)
					LockSupport.park();
			});
			t.setDaemon(true);
			t.start();
			if (i == Integer.parseInt(args[0]) / 2)
				System.out.println("half");
			spin(1);
		}
		spin(20000);
	}

	/* The main thread runs all the time, so that there is something to sample. */
	static void spin(int ms) {
		for (long end = System.nanoTime() + ms * 1000000L; System.nanoTime() < end;)
			;
	}
}
