import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.concurrent.locks.LockSupport;

/**
 * Two threads that let each other go on: HandOver TURNS. A turn is two parks, and on one CPU two context switches.
 * HandOver TURNS wait: as often as there are lines to read, and prints one each time.
 * HandOver TURNS cpu: prints the seconds of CPU time that they took, after some that do not count.
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

	static double cpu() {
		return ((OperatingSystemMXBean)ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1e9;
	}

	static void timed(Thread t, int nr) {
		double begin;

		turns(t, nr / 5);
		begin = cpu();
		turns(t, nr);
		System.out.println(cpu() - begin);
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
		if (args.length > 1 && args[1].equals("cpu"))
			timed(t, Integer.parseInt(args[0]));
		while (args.length > 1 && args[1].equals("wait") && System.in.read() == '\n') {
			turns(t, Integer.parseInt(args[0]));
			System.out.println("done");
		}
	}
}
