import java.io.*;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads (JDK 21 and later; compile with it) that block the thread they are mounted on, and one that does
 * not; prints how long: "TRUTH thread reason ms". VirtualWaits MS FIFO.
 */
public class VirtualWaits {
	static int ms;

	/** A class initialiser pins. */
	static class Pinned {
		static final long took;

		static {
			long t = System.nanoTime();
			while (System.nanoTime() - t < ms * 1_000_000L)
				LockSupport.parkNanos(ms * 1_000_000L);
			took = System.nanoTime() - t;
		}
	}

	static class Asleep {
		static final long took;

		static {
			long t = System.nanoTime();
			try {
				Thread.sleep(ms);
			} catch (InterruptedException e) {
			}
			took = System.nanoTime() - t;
		}
	}

	static void say(String thread, String reason, long ns) {
		System.out.printf("TRUTH %s %s %.1f%n", thread, reason, ns / 1e6);
	}

	static void read(String fifo) {
		long t = System.nanoTime();
		try (InputStream in = new FileInputStream(fifo)) {
			in.read();
		} catch (IOException e) {
			e.printStackTrace();
		}
		say("reading", "io", System.nanoTime() - t);
	}

	public static void main(String[] a) throws Exception {
		ms = Integer.parseInt(a[0]);
		Thread[] t = {
			Thread.ofVirtual().name("pinned").start(() -> say("pinned", "park", Pinned.took)),
			Thread.ofVirtual().name("asleep").start(() -> say("asleep", "sleep", Asleep.took)),
			Thread.ofVirtual().name("reading").start(() -> read(a[1])),
			Thread.ofVirtual().name("unmounted").start(() -> LockSupport.parkNanos(ms * 1_000_000L)),
		};
		Thread.sleep(ms);
		try (OutputStream out = new FileOutputStream(a[1])) {
			out.write(1);
		}
		for (Thread x : t)
			x.join();
	}
}
