// SPDX-License-Identifier: GPL-2.0-or-later
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A program that somebody attaches to: it does what the lines on its standard input say, and prints
 * what it did, a line each.
 *
 *	calls N		Live.outer() N times, which calls Live.inner() three times
 *	open MS		calls outer() now and then, for so long
 *	spin MS		so much CPU time, nine tenths in Live.most(), one in Live.rest(), compiled before
 *	threads N	starts N threads and waits for their end; each calls outer() once
 *	virtual N	the same with virtual threads
 *	guest N		N objects of a class that a new loader defines, and N exceptions, in a new thread
 *	count		its threads' names that are not the JVM's own, in order
 *	rename		the thread for signals, as JDK 26 shortens its name for the kernel; on any JDK
 */
public final class Live {
	static volatile long sink;

	static void inner() { sink++; }

	static void outer() {
		inner();
		inner();
		inner();
	}

	static void most() { work(900000); }

	static void rest() { work(100000); }

	static void work(int n) {
		long s = sink;
		for (int i = 0; i < n; i++)
			s = s * 31 + i;
		sink = s;
	}

	static void calls(int n) {
		for (int i = 0; i < n; i++)
			outer();
	}

	static void open(long ms) throws InterruptedException {
		for (long end = System.nanoTime() + ms * 1000000; System.nanoTime() < end; Thread.sleep(1))
			outer();
	}

	static void spin(long ms) {
		long end = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() + ms * 1000000;
		while (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() < end) {
			most();
			rest();
		}
	}

	static Thread thread(boolean virtual, int i) throws Exception {
		Runnable body = () -> outer();
		if (!virtual)
			return new Thread(body, "worker-" + i);
		return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
	}

	static void threads(boolean virtual, int n) throws Exception {
		List<Thread> all = new ArrayList<>();
		for (int i = 0; i < n; i++) {
			Thread t = thread(virtual, i);
			if (!virtual)
				t.start();
			all.add(t);
		}
		for (Thread t : all)
			t.join();
	}

	/** Each loader has one of its own; what it makes cannot be left out by a compiler. */
	public static final class Guest implements Runnable {
		static volatile Object kept;
		private final int n;

		public Guest(int n) { this.n = n; }

		@Override public void run() {
			for (int i = 0; i < n; i++) {
				try {
					kept = new Guest(0);
					throw new IllegalStateException();
				} catch (IllegalStateException e) {
					kept = e;
				}
			}
		}
	}

	static final class GuestLoader extends ClassLoader {
		@Override protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			if (!name.equals("Live$Guest"))
				return super.loadClass(name, resolve);
			try (InputStream in = Live.class.getResourceAsStream("Live$Guest.class")) {
				byte[] b = in.readAllBytes();
				return defineClass(name, b, 0, b.length);
			} catch (IOException e) {
				throw new ClassNotFoundException(name, e);
			}
		}
	}

	static int nrGuests;

	static void guest(int n) throws Exception {
		Object guest = new GuestLoader().loadClass("Live$Guest").getConstructor(int.class).newInstance(n);
		Thread t = new Thread((Runnable) guest, "guest-" + nrGuests++);
		t.start();
		t.join();
		System.gc();	// the guest before, at least, is gone
	}

	static String names() {
		List<String> names = new ArrayList<>();
		for (Thread t : Thread.getAllStackTraces().keySet())
			if (t.getThreadGroup() != null && !t.getThreadGroup().getName().equals("system"))
				names.add(t.getName());
		return String.join(" ", names);
	}

	static void rename() throws IOException {
		for (File task : new File("/proc/self/task").listFiles()) {
			Path name = new File(task, "comm").toPath();

			if (new String(Files.readAllBytes(name)).startsWith("Signal "))
				Files.write(name, "Signal..patcher".getBytes());
		}
	}

	static String run(String command, int n) throws Exception {
		switch (command) {
		case "calls": calls(n); break;
		case "open": open(n); break;
		case "spin": spin(n); break;
		case "threads": threads(false, n); break;
		case "virtual": threads(true, n); break;
		case "guest": guest(n); break;
		case "count": return names();
		case "rename": rename(); break;
		default: return "what?";
		}
		return command + " " + n;
	}

	public static void main(String[] args) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		System.out.println("ready");
		for (String line; (line = in.readLine()) != null;) {
			String[] words = line.split(" ");
			System.out.println(run(words[0], words.length > 1 ? Integer.parseInt(words[1]) : 0));
		}
	}
}
