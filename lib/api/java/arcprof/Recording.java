// SPDX-License-Identifier: MIT
package arcprof;

import java.io.IOException;

/**
 * The program records itself, without {@code arcprof record}: for places where nothing can be started beside the
 * JVM. What is written is a journal, a file that {@code arcprof report} and the other commands read.
 *
 * <pre>{@code
 * try (Recording r = Recording.start("/tmp/cart.journal", "cpu,alloc=64k,lock,gc")) {
 *         ...
 * }
 * }</pre>
 *
 * <p>Events are those of {@code arcprof record -e} that need no help of the kernel: cpu, alloc, live, lock, gc,
 * safepoint, jit, class, thread, oom, label, and jvm for several of these; exception only of a JVM that was started
 * with the agent's option {@code file=}. With none, cpu is recorded. Any number of recordings can follow each
 * other; at any time there is one.
 *
 * <p>In a JVM that was started with {@code -agentpath:/path/libarcprof-jvm.so} every class loader finds this class
 * by its name. Otherwise it is in {@code arcprof.jar} and needs {@code libarcprof-jvm.so}, which
 * {@code arcprof agent install} writes: the file named by the system property {@code arcprof.agent}, or else
 * on {@code java.library.path}.
 */
public final class Recording implements AutoCloseable {
	private final int number;

	private Recording(int number) {
		this.number = number;
	}

	/**
	 * Begins a recording.
	 *
	 * @param file the journal; %p in it stands for the process's number. A file of that name becomes NAME.old
	 * @param events names with commas, each perhaps with an interval: {@code "cpu=10ms,alloc=64k"}; null: cpu
	 * @throws IllegalStateException the agent is not there, or the JVM is being recorded already
	 * @throws IOException the file cannot be written, or an event is unknown, as the message says
	 */
	public static Recording start(String file, String events) throws IOException {
		String[] why = { null };
		int number;

		if (file == null)
			throw new NullPointerException("file");
		try {
			number = start(file, events == null ? "" : events, why);
		} catch (UnsatisfiedLinkError e) {
			load();
			number = start(file, events == null ? "" : events, why);
		}
		if (number == 0 && why[0] != null && why[0].endsWith("already"))
			throw new IllegalStateException(why[0]);
		if (number == 0)
			throw new IOException(why[0] == null ? "out of memory" : why[0]);
		return new Recording(number);
	}

	private static void load() {
		String path = System.getProperty("arcprof.agent");

		try {
			if (path != null)
				System.load(path);
			else
				System.loadLibrary("arcprof-jvm");
		} catch (UnsatisfiedLinkError e) {
			throw new IllegalStateException("no agent: " + e.getMessage(), e);
		}
	}

	/**
	 * Ends it; the journal is complete then. Does nothing when it has ended.
	 *
	 * @return what could not be written, in words; null: all is there
	 */
	public String stop() {
		return stop(number);
	}

	/** Ends it. */
	@Override
	public void close() {
		stop();
	}

	private static native int start(String file, String events, String[] why);

	private static native String stop(int number);
}
