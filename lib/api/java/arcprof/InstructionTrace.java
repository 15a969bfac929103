// SPDX-License-Identifier: MIT
package arcprof;

/**
 * Between {@link #on} and {@link #off} the calling thread's instructions are traced, where the program
 * runs under {@code arcprof itrace --bracket}; arcprof-itrace(1) says more.
 *
 * <p>Needs {@code libarcprof-java.so}, as {@link ThreadTime} does. What the JVM has compiled by then is
 * traced as compiled code with its names, the rest as the interpreter: warm the code up before.
 */
public final class InstructionTrace {
	static {
		ThreadTime.backend();	// loads the library
	}

	private InstructionTrace() {
	}

	/** 0, or a negative error: -19 nobody traces, -114 it is on, -11 SIGURG is blocked. */
	public static native int on();

	/** 0, or a negative error: -22 it is not on, -11 the tracer has ended meanwhile. */
	public static native int off();
}
