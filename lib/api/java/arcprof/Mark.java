// SPDX-License-Identifier: MIT
package arcprof;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

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
 * methods may be called from any thread; the marks of a virtual thread are its own.
 */
public final class Mark {
	static final boolean ON = load() && isOn();
	/* Thread.isVirtual(), null before JDK 21 */
	private static final MethodHandle IS_VIRTUAL = ON ? isVirtual() : null;

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

	private static MethodHandle isVirtual() {
		try {
			return MethodHandles.publicLookup().findVirtual(Thread.class, "isVirtual",
									MethodType.methodType(boolean.class));
		} catch (ReflectiveOperationException e) {
			return null;
		}
	}

	/** The id of the current thread if it is a virtual one; 0: it is none. */
	@SuppressWarnings("deprecation")	/* threadId() is younger, and cannot be overridden */
	static long vthread() {
		Thread t = Thread.currentThread();

		try {
			return IS_VIRTUAL != null && (boolean)IS_VIRTUAL.invokeExact(t) ? t.getId() : 0;
		} catch (Throwable e) {
			return 0;
		}
	}

	/** A name is kept for ever: make few of them, each once. */
	public Mark(String name) {
		this.name = ON ? keep(name) : 0;
	}

	/** Marks this moment. */
	public void set() {
		if (ON)
			mark(vthread(), name, -1);
	}

	/** Marks this moment, with a value that is not negative. */
	public void set(long value) {
		if (ON)
			mark(vthread(), name, value);
	}

	/** When a phase begins; 0 when nothing is recorded. */
	public static long begin() {
		return ON ? phaseBegin() : 0;
	}

	/** A phase of this name that began then has ended. */
	public void end(long begun) {
		if (ON)
			phaseEnd(vthread(), begun, name);
	}

	private static native boolean isOn();

	static native long keep(String name);

	private static native void mark(long vthread, long name, long value);

	private static native long phaseBegin();

	private static native void phaseEnd(long vthread, long begun, long name);
}
