// SPDX-License-Identifier: MIT
package arcprof;

/**
 * What the calling thread consumed, mostly without a system call.
 *
 * <p>Values come from a session of {@code arcprof ptt init --all-users} if one runs when this class is
 * loaded, else from perf's page or the thread's clock; arcprof-api(3) says what each of them knows.
 * A virtual thread gets what its carrier consumed, also for others, since the carrier began.
 *
 * <p>Needs {@code libarcprof-java.so}: its path in the property {@code arcprof.library}, or its folder in
 * {@code java.library.path}. All methods may be called from any thread.
 */
public final class ThreadTime {
	static {
		String path = System.getProperty("arcprof.library");

		if (path != null)
			System.load(path);
		else
			System.loadLibrary("arcprof-java");
	}

	private ThreadTime() {
	}

	/** Indices of what {@link #read} and {@link #process} give. */
	public static final int TIME_NS = 0, IRQ_TIME_NS = 1, DISPATCHES = 2, INTERRUPTS = 3, SWITCHES = 4,
		MIGRATIONS = 5, FAULTS = 6, COUNTER = 7;

	/** How many values there are: {@link #COUNTER} and six more are events of the session. */
	public static final int NR_VALUES = 14;

	/** What stands for a value that is not measured. */
	public static final long UNKNOWN = -1;

	/** "bpf", "module", "perf" or "clock". */
	public static native String backend();

	/**
	 * Nanoseconds that the calling thread was on a processor; never less than the call before gave.
	 *
	 * @throws IllegalStateException when the session does not measure this thread
	 */
	public static native long nanos();

	/**
	 * All values of the calling thread.
	 *
	 * @param values at least {@link #NR_VALUES} long
	 * @throws IllegalStateException when the session does not measure this thread, or has ended
	 */
	public static native void read(long[] values);

	/** The sums over all threads of this process; as {@link #read}. */
	public static native void process(long[] values);
}
