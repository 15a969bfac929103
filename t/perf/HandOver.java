import java.io.IOException;
import java.util.concurrent.locks.LockSupport;

/**
 * Two threads that let each other go on: HandOver TURNS. A turn is two parks, and on one CPU two context switches.
 * HandOver TURNS wait: as often as there are lines to read, and prints one each time.
 */
public class HandOver {
	static volatile boolean others;

	static void pass(Thread to, boolean mine) {
		while (others != mine)
			LockSupport.park();
		others = !mine;
		LockSupport.unpark(to);
	}

	static void turns(Thread t, int nr) {
		for (; nr > 0; nr--)
			pass(t, false);
	}

	public static void main(String[] args) throws IOException {
		Thread first = Thread.currentThread();
		Thread t = new Thread(() -> {
			for (;;)
				pass(first, true);
		});
		t.setDaemon(true);
		t.start();
		if (args.length == 1)
			turns(t, Integer.parseInt(args[0]));
		while (args.length > 1 && System.in.read() == '\n') {
			turns(t, Integer.parseInt(args[0]));
			System.out.println("done");
		}
	}
}
