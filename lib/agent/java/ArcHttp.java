// SPDX-License-Identifier: MIT
package java.lang;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Calls over HTTP, as the probes in clients and servers tell of them (agent/sources/http.c): a call has a number, the
 * request carries it, and both threads have it as their label while they are at it.
 *
 * <p>The class is in java.base, so that every class can call it, and it may look into any. Whatever goes wrong here, the
 * program goes on as if nothing was: nothing leaves enter() and leave(), and what could not be done is told of.
 */
public final class ArcHttp {
	private static final String LABEL = "rpc", HEADER = "Arcprof-Call", TRACEPARENT = "traceparent";
	/* what probes say; http.c has the same */
	private static final int SEND = 0, SENDS = 1, GET = 2, WRITES = 3, EXCHANGE = 4, SERVICE = 5;

	private static volatile boolean on;
	private static long seed;
	private static final AtomicLong numbers = new AtomicLong();
	private static Method label;
	/* in [0]: the innermost call that the thread serves or makes */
	private static final ThreadLocal<ArcHttp[]> OPEN = new ThreadLocal<>();

	private final ArcHttp outer;
	private final int what;
	private final boolean calls;		/* it makes one */
	private final String in, out;		/* the call that is served, the one that is made; null: none */
	private final long begun;		/* System.nanoTime(); 0: it is part of the outer one */

	private ArcHttp(ArcHttp outer, int what, boolean calls, String in, String out, long begun) {
		this.outer = outer;
		this.what = what;
		this.calls = calls;
		this.in = in;
		this.out = out;
		this.begun = begun;
	}

	/* Called by the agent; 0: it is off from now on. */
	private static void turn(long random) throws ReflectiveOperationException {
		on = false;
		if (random == 0)
			return;
		label = Class.forName("arcprof.Label", true, null).getMethod("set", String.class, String.class);
		seed = random;
		on = true;
	}

	/** The probe at the begin of a method: what it was given, and which it is. */
	public static void enter(Object o, int what) {
		if (!on || o == null)
			return;
		try {
			open(o, what);
		} catch (Throwable e) {
			tell(e);
		}
	}

	/** The probe at its end. */
	public static void leave(int what) {
		try {
			close(what);
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

	private static void open(Object o, int what) throws ReflectiveOperationException {
		ArcHttp[] own = OPEN.get();
		ArcHttp outer = own == null ? null : own[0], inner;

		if (what == SENDS || what == WRITES) {
			mark(o, what, outer);
			return;
		}
		if (own == null) {
			own = new ArcHttp[1];
			OPEN.set(own);
		}
		if (what == SEND || what == GET)
			inner = makes(o, what, outer);
		else
			inner = serves(o, what, outer);
		own[0] = inner;
		set(inner, outer);
	}

	private static ArcHttp makes(Object o, int what, ArcHttp outer) throws ReflectiveOperationException {
		String in = outer == null ? null : outer.in, out;

		if (outer != null && outer.calls)
			return new ArcHttp(outer, what, true, in, outer.out, 0);
		if (what == GET && (field(o, "inputStream") != null || field(o, "rememberedException") != null))
			return new ArcHttp(outer, what, false, in, null, 0);	/* the answer is there already */
		out = what == GET ? of(field(o, "requests"), "findValue") : of(call(o, "headers"), "firstValue");
		return new ArcHttp(outer, what, true, in, out == null ? number() : out, System.nanoTime());
	}

	private static ArcHttp serves(Object o, int what, ArcHttp outer) throws ReflectiveOperationException {
		String in = what == SERVICE ? of(o, "getHeader") : of(call(o, "getRequestHeaders"), "getFirst");

		if (in == null && outer != null)
			in = outer.in;
		return new ArcHttp(outer, what, false, in, null, 0);
	}

	/* The request is about to be sent: it gets the number, unless the program says one. */
	private static void mark(Object o, int what, ArcHttp call) throws ReflectiveOperationException {
		Object headers = what == WRITES ? field(o, "requests") : call(o, "headers");

		if (of(headers, what == WRITES ? "findValue" : "firstValue") != null)
			return;
		String out = call != null && call.calls ? call.out : number();

		if (what == WRITES)
			method(headers.getClass(), "set", String.class, String.class).invoke(headers, HEADER, out);
		else
			method(o.getClass(), "setSystemHeader", String.class, String.class).invoke(o, HEADER, out);
	}

	private static void close(int what) throws ReflectiveOperationException {
		ArcHttp[] own = OPEN.get();
		ArcHttp c = own == null ? null : own[0];

		while (c != null && c.what != what)
			c = c.outer;
		if (c == null)
			return;
		own[0] = c.outer;
		if (c.begun != 0 && on)
			called(System.nanoTime() - c.begun);
		set(c.outer, c);
	}

	/* "IN>OUT": what the thread is at, if it is not as before. */
	private static void set(ArcHttp c, ArcHttp before) throws ReflectiveOperationException {
		String value = value(c), had = value(before);

		if (value == null ? had != null : !value.equals(had))
			label.invoke(null, LABEL, value);
	}

	private static String value(ArcHttp c) {
		if (c == null || c.in == null && c.out == null)
			return null;
		return (c.in == null ? "" : c.in) + '>' + (c.out == null ? "" : c.out);
	}

	/* ---- numbers ---- */

	/* Numbers of SplitMix64: Steele and others, "Fast splittable pseudorandom number generators" (2014). */
	private static String number() {
		long z = seed + 0x9e3779b97f4a7c15L * numbers.incrementAndGet();

		z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
		z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
		z ^= z >>> 31;
		return Long.toHexString(z | 1L << 63);
	}

	/* The number that headers have, ours or the parent-id of W3C's traceparent; null: none. */
	private static String of(Object headers, String method) throws ReflectiveOperationException {
		Method get = method(headers.getClass(), method, String.class);
		String s = hex(text(get.invoke(headers, HEADER)));

		if (s != null)
			return s;
		String parent = text(get.invoke(headers, TRACEPARENT));

		/* 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 */
		return parent != null && parent.length() >= 55 && parent.charAt(35) == '-' && parent.charAt(52) == '-' ?
			hex(parent.substring(36, 52)) : null;
	}

	private static String text(Object o) {
		if (o instanceof Optional)
			o = ((Optional<?>)o).orElse(null);
		return o instanceof String ? (String)o : null;
	}

	/* 16 digits, in lower case; null: it is not that. */
	private static String hex(String s) {
		if (s == null || s.length() != 16)
			return null;
		for (int i = 0; i < 16; i++)
			if (Character.digit(s.charAt(i), 16) < 0 || s.charAt(i) > 'f')
				return null;
		return s.toLowerCase();
	}

	/* ---- looking into objects: what is found is kept of classes that never go ---- */

	private static final Map<Class<?>, Map<String, AccessibleObject>> FOUND = new ConcurrentHashMap<>();

	private static boolean stays(Class<?> type) {
		ClassLoader of = type.getClassLoader(), system = ClassLoader.getSystemClassLoader();

		return of == null || of == system || of == system.getParent();
	}

	private static AccessibleObject find(Class<?> type, String name) {
		Map<String, AccessibleObject> found = FOUND.get(type);

		return found == null ? null : found.get(name);
	}

	private static void keep(Class<?> type, String name, AccessibleObject member) {
		member.setAccessible(true);
		if (!stays(type))
			return;
		Map<String, AccessibleObject> fresh = new ConcurrentHashMap<>(), had = FOUND.putIfAbsent(type, fresh);

		(had == null ? fresh : had).put(name, member);
	}

	private static Object field(Object o, String name) throws ReflectiveOperationException {
		Field found = (Field)find(o.getClass(), name);

		for (Class<?> c = o.getClass(); found == null && c != null; c = c.getSuperclass())
			for (Field f : c.getDeclaredFields())
				if (found == null && f.getName().equals(name)) {
					found = f;
					keep(o.getClass(), name, f);
				}
		if (found == null)
			throw new NoSuchFieldException(o.getClass().getName() + '.' + name);
		return found.get(o);
	}

	private static Method method(Class<?> type, String name, Class<?>... parameters)
			throws ReflectiveOperationException {
		Method found = (Method)find(type, name);

		for (Class<?> c = type; found == null && c != null; c = c.getSuperclass())
			try {
				found = c.getDeclaredMethod(name, parameters);
				keep(type, name, found);
			} catch (NoSuchMethodException e) {
				/* perhaps above */
			}
		if (found == null)
			throw new NoSuchMethodException(type.getName() + '.' + name);
		return found;
	}

	private static Object call(Object o, String name) throws ReflectiveOperationException {
		return method(o.getClass(), name).invoke(o);
	}

	/* A call was made, and took that long. */
	private static native void called(long ns);

	/* Something was not as it should be. */
	private static native void missed(String why);
}
