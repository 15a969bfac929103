// SPDX-License-Identifier: MIT
import arcprof.Recording;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/*
 * Records itself: "Recordings N" makes N journals, rec-0.journal and so on, one after the other; during number i the
 * program starts i threads named work-i and collects i times. What cannot be recorded, it says. "Recordings stress
 * SECONDS" makes as many as it can, of other events each time, while threads do all that can be recorded.
 */
public class Recordings {
	static volatile Object sink;

	static void work(int i) throws InterruptedException {
		for (int k = 0; k < i; k++) {
			Thread t = new Thread(() -> sink = new byte[100], "work-" + i);

			t.start();
			t.join();
			System.gc();
		}
	}

	static void say(String what, String file, String events) throws Exception {
		try {
			Recording.start(file, events).stop();
			System.out.println(what + ": was recorded");
		} catch (IOException | IllegalStateException e) {
			System.out.println(what + ": " + e.getClass().getSimpleName() + ": " + e.getMessage());
		}
	}

	public static class Guest {
	}

	static class Own extends ClassLoader {
		Class<?> guest(byte[] file) {
			return defineClass("Recordings$Guest", file, 0, file.length);
		}
	}

	static byte[] guestFile() throws IOException {
		try (InputStream in = Recordings.class.getResourceAsStream("Recordings$Guest.class")) {
			return in.readAllBytes();
		}
	}

	static void something(Random r, byte[] file) throws Exception {
		switch (r.nextInt(6)) {
		case 0:
			for (int k = 0; k < 2000; k++)
				sink = new byte[r.nextInt(5000)];
			break;
		case 1:
			synchronized (Recordings.class) {
				Thread.sleep(0, 300000);
			}
			break;
		case 2:
			Thread t = new Thread(() -> sink = new int[9]);
			t.start();
			t.join();
			break;
		case 3:
			sink = new Own().guest(file).getDeclaredConstructor().newInstance();
			break;
		case 4:
			if (r.nextInt(50) == 0)
				System.gc();
			break;
		default:
			if (r.nextInt(50) == 0)
				new ProcessBuilder("true").start().waitFor();
		}
	}

	static void stress(long end) throws Exception {
		String[] events = { "alloc=64k", "live=256k", "lock", "gc", "safepoint", "jit", "class", "thread", "oom", "label" };
		List<Thread> threads = new ArrayList<>();
		byte[] file = guestFile();
		Random r = new Random(9);
		int n = 0, lossy = 0, refused = 0;

		for (int i = 0; i < 8; i++) {
			Random own = new Random(i);

			threads.add(new Thread(() -> {
				try {
					while (System.nanoTime() < end)
						something(own, file);
				} catch (Exception e) {
					e.printStackTrace();
					System.exit(1);
				}
			}));
		}
		for (Thread t : threads)
			t.start();
		for (; System.nanoTime() < end; n++) {
			StringBuilder what = new StringBuilder("cpu=5ms");

			for (String e : events)
				if (r.nextBoolean())
					what.append(',').append(e);
			try {
				Recording of = Recording.start("stress-" + n % 20 + ".journal", what.toString());
				Thread.sleep(r.nextInt(60));
				lossy += of.stop() != null ? 1 : 0;
			} catch (IllegalStateException e) {
				refused++;		/* a recorder of the whole machine was faster */
				Thread.sleep(100);
			}
		}
		for (Thread t : threads)
			t.join();
		System.out.println(n - refused + " recordings, " + lossy + " with losses, " + refused + " refused, " + new java.io.File("/proc/self/fd").list().length +
				   " descriptors");
	}

	public static void main(String[] args) throws Exception {
		if (args[0].equals("stress")) {
			stress(System.nanoTime() + Long.parseLong(args[1]) * 1000000000L);
			return;
		}
		for (int i = 0; i < Integer.parseInt(args[0]); i++) {
			try (Recording r = Recording.start("rec-" + i + ".journal", "cpu,thread,gc")) {
				if (i == 0)
					say("twice", "twice.journal", "cpu");
				work(i);
				String lost = r.stop();
				if (lost != null)
					System.out.println(lost);
			}
			work(1);		/* in none */
		}
		say("folder", "nowhere/x.journal", "cpu");
		say("event", "x.journal", "cpu,wall");
		say("interval", "x.journal", "alloc=lots");
		say("usual", "%p.journal", null);
	}
}
