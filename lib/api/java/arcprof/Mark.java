// SPDX-License-Identifier: MIT
package arcprof;

/**
 * What a program says of itself in a recording: a point in time, or a phase with its duration, both with a name.
 * {@code arcprof record -e mark} records them; elsewhere they cost next to nothing.
 *
 * <pre>{@code
 * private static final Mark COMMIT = new Mark("commit");
 * ...
 * COMMIT.set();                        // now
 * COMMIT.set(batch.size());            // with a value
 * long begun = Mark.begin();           // a phase
 * ...
 * COMMIT.end(begun);
 * }</pre>
 *
 * <p>Needs {@code libarcprof-java.so}, found as {@link ThreadTime} finds it; without it nothing is marked. All
 * methods may be called from any thread; the marks of a virtual thread are its carrier's.
 */
public final class Mark {
	static final boolean ON = load() && isOn();

	private static boolean load() {
		String path = System.getProperty("arcprof.library");

		try {
			if (path != null)
				System.load(path);
			else
				System.loadLibrary("arcprof-java");
			return true;
		} catch (UnsatisfiedLinkError e) {
			return false;
		}
	}

	private final long name;

	/** A name is kept for ever: make few of them, each once. */
	public Mark(String name) {
		this.name = ON ? keep(name) : 0;
	}

	/** Marks this moment. */
	public void set() {
		if (ON)
			mark(name, -1);
	}

	/** Marks this moment, with a value that is not negative. */
	public void set(long value) {
		if (ON)
			mark(name, value);
	}

	/** When a phase begins; 0 when nothing is recorded. */
	public static long begin() {
		return ON ? phaseBegin() : 0;
	}

	/** A phase of this name that began then has ended. */
	public void end(long begun) {
		if (ON)
			phaseEnd(begun, name);
	}

	private static native boolean isOn();

	static native long keep(String name);

	private static native void mark(long name, long value);

	private static native long phaseBegin();

	private static native void phaseEnd(long begun, long name);
}
