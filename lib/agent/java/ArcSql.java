// SPDX-License-Identifier: MIT
package java.lang;

/**
 * Statements of JDBC, as the probes in drivers and pools tell of them (agent/sources/sql.c). Drivers call their own
 * methods, and pools those of drivers: the outermost call of a thread is the statement.
 *
 * <p>The class is in java.base, so that every class can call it. Whatever goes wrong here, the program goes on as if
 * nothing was: nothing leaves enter(), leave() and result(), and what could not be done is told of.
 */
public final class ArcSql {
	/* what probes say; sql.c has the same */
	private static final int PREPARE = 4;

	private static volatile int session;	/* 0: it is off */
	private static int sessions;
	private static final ThreadLocal<ArcSql> OWN = new ThreadLocal<>();

	/* Of a thread: */
	private int of;				/* the session; what follows is of no other */
	private int depth;			/* how many methods with probes it is in */
	private int outermost;			/* the depth of the one that counts; 0: it is in none */
	private boolean prepares;
	private int text;
	private long begun;

	private ArcSql() {
	}

	/* Called by the agent; 0: it is off from now on. */
	private static void turn(long random) {
		session = random == 0 ? 0 : ++sessions;
	}

	/** The probe at the beginning of a method: its object, the text of SQL that it was given or null, and which it is. */
	public static void enter(Object self, Object sql, int what) {
		int now = session;

		if (now == 0)
			return;
		try {
			open(self, sql, what, now);
		} catch (Throwable e) {
			tell(e);
		}
	}

	/** The probe at its end. */
	public static void leave(int what) {
		try {
			close(null);
		} catch (Throwable e) {
			tell(e);
		}
	}

	/** The same of one that returns a prepared statement. */
	public static void result(Object o, int what) {
		try {
			close(o);
		} catch (Throwable e) {
			tell(e);
		}
	}

	private static void tell(Throwable e) {
		try {
			missed(e.toString());
		} catch (Throwable more) {
			/* there is no room on the stack, or no memory */
		}
	}

	private static void open(Object self, Object sql, int what, int now) {
		ArcSql own = OWN.get();

		if (own == null) {
			own = new ArcSql();
			OWN.set(own);
		}
		if (own.of != now) {
			own.of = now;
			own.depth = own.outermost = 0;
		}
		own.depth++;
		if (own.outermost != 0)
			return;
		own.text = text(self, sql, what);
		if (own.text == 0)
			return;
		own.outermost = own.depth;
		own.prepares = what == PREPARE;
		own.begun = System.nanoTime();
	}

	private static void close(Object result) {
		ArcSql own = OWN.get();

		if (own == null || own.of != session || own.depth == 0)
			return;
		if (own.outermost != 0 && own.prepares && result != null)
			prepared(result, own.text);
		if (own.depth-- != own.outermost)
			return;
		own.outermost = 0;
		if (!own.prepares)
			called(System.nanoTime() - own.begun, own.text);
	}

	/* The number of a statement's text; 0: the object is none of JDBC's. */
	private static native int text(Object self, Object sql, int what);

	/* What executes it has no text any more. */
	private static native void prepared(Object statement, int text);

	/* A statement was executed, and took that long. */
	private static native void called(long ns, int text);

	/* Something was not as it should be. */
	private static native void missed(String why);
}
