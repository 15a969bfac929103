// SPDX-License-Identifier: MIT
package arcprof;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

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
	/*
	 * The native half's pointer to what it knows of a recorder. It is another one when a recorder comes to the
	 * running program or goes, so what was found out holds while the pointer is the same.
	 */
	private static final ByteBuffer RECORDER = load() ? recorder().order(ByteOrder.nativeOrder()) : null;
	private static long on = -1, off = -1;
	/* Thread.isVirtual(), null before JDK 21 */
	private static final MethodHandle IS_VIRTUAL = isLoaded() ? isVirtual() : null;

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

	/* Whether somebody records now. */
	static boolean isOn() {
		if (RECORDER == null)
			return false;
		long recorder = RECORDER.getLong(0);
		return recorder != off && (recorder == on || ask());
	}

	private static boolean ask() {
		long recorder = find();

		if (recorder > 0)
			on = recorder;
		else if (recorder < 0)
			off = -recorder;
		return recorder > 0;
	}

	/* There is a native half, and a recorder may come at any time. */
	static boolean isLoaded() {
		return RECORDER != null;
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
		this.name = isLoaded() ? keep(name) : 0;
	}

	/** Marks this moment. */
	public void set() {
		if (isOn())
			mark(vthread(), name, -1);
	}

	/** Marks this moment, with a value that is not negative. */
	public void set(long value) {
		if (isOn())
			mark(vthread(), name, value);
	}

	/** When a phase begins; 0 when nothing is recorded. */
	public static long begin() {
		return isOn() ? phaseBegin() : 0;
	}

	/** A phase of this name that began then has ended. */
	public void end(long begun) {
		if (isOn())
			phaseEnd(vthread(), begun, name);
	}

	/* The pointer, in memory of the native half. */
	private static native ByteBuffer recorder();

	/* Its value where somebody records, negative where nobody does; 0: not known. */
	private static native long find();

	static native long keep(String name);

	private static native void mark(long vthread, long name, long value);

	private static native long phaseBegin();

	private static native void phaseEnd(long vthread, long begun, long name);
}
