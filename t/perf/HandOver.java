import java.util.concurrent.locks.LockSupport;

/** Two threads that let each other go on: HandOver TURNS. A turn is two parks, and on one CPU two context switches. */
public class HandOver {
	static volatile boolean others;

	static void pass(Thread to, boolean mine) {
		while (others != mine)
			LockSupport.park();
		others = !mine;
		LockSupport.unpark(to);
	}

	public static void main(String[] args) {
		Thread first = Thread.currentThread();
		Thread t = new Thread(() -> {
			for (;;)
				pass(first, true);
		});
		t.setDaemon(true);
		t.start();
		for (int i = Integer.parseInt(args[0]); i > 0; i--)
			pass(t, false);
	}
}
