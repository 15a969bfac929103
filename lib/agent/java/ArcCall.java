// SPDX-License-Identifier: MIT
package java.lang;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Calls between programs, as the probes in clients and servers tell of them (agent/sources/call.c): a call has a
 * number that both ends know, and both threads have it as their label while they are at it. A request over HTTP
 * or gRPC carries it. RMI has no room for one, but each answer carries a UID, which is the number of the next call over its
 * connection; that of the first is made of the addresses and ports of both ends.
 *
 * <p>The class is in java.base, so that every class can call it, and it may look into any. Whatever goes wrong here, the
 * program goes on as if nothing was: nothing leaves enter() and leave(), and what could not be done is told of.
 */
public final class ArcCall {
	private static final String LABEL = "rpc", HEADER = "Arcprof-Call", TRACEPARENT = "traceparent";
	/* what probes say; call.h has the same */
	private static final int SEND = 0, SENDS = 1, GET = 2, WRITES = 3, EXCHANGE = 4, SERVICE = 5;
	private static final int EXECUTE = 6, DISPATCH = 7, CONNECTION = 8, ANSWER = 9;
	private static final int BLOCKING = 10, START = 11, HANDLER = 12, LISTENER = 13;

	private static volatile boolean on;
	private static int users;		/* sources that have turned it on */
	private static long seed;
	private static final AtomicLong numbers = new AtomicLong();
	private static Method label;
	/* in [0]: the innermost call that the thread serves or makes */
	private static final ThreadLocal<ArcCall[]> OPEN = new ThreadLocal<>();

	private final ArcCall outer;
	private final int what;
	private final boolean calls;		/* it makes one */
	private final String in;		/* the call that is served; null: none */
	private String out;			/* the one that is made; null: none */
	private final long begun;		/* System.nanoTime(); 0: it is part of the outer one */
	private Object rmi;			/* the call of that kind; null: of another */

	private ArcCall(ArcCall outer, int what, boolean calls, String in, String out, long begun) {
		this.outer = outer;
		this.what = what;
		this.calls = calls;
		this.in = in;
		this.out = out;
		this.begun = begun;
	}

	/* Called by the agent when a source begins; 0: when one ends. */
	private static synchronized void turn(long random) throws ReflectiveOperationException {
		if (random == 0) {
			on = --users > 0;
			return;
		}
		label = Class.forName("arcprof.Label", true, null).getMethod("set", String.class, String.class);
		if (users++ == 0)
			seed = random;
		forget();
		on = true;
	}

	/** The probe at the beginning of a method: what it was given, and which it is. */
	public static void enter(Object o, int what) {
		if (!on || o == null)
			return;
		try {
			open(o, what);
		} catch (Throwable e) {
			tell(e, what);
		}
	}

	/** The probe at its end. */
	public static void leave(int what) {
		try {
			close(what);
		} catch (Throwable e) {
			tell(e, what);
		}
	}

	/** The same of a handler of gRPC, which returns who is told of the call's messages. */
	public static void result(Object listener, int what) {
		try {
			listens(listener);
			close(what);
		} catch (Throwable e) {
			tell(e, what);
		}
	}

	private static void tell(Throwable e, int what) {
		try {
			missed(e.toString(), what);
		} catch (Throwable more) {
			/* there is no room on the stack, or no memory */
		}
	}

	private static void open(Object o, int what) throws ReflectiveOperationException {
		ArcCall[] own = OPEN.get();
		ArcCall outer = own == null ? null : own[0], inner;

		if (what == SENDS || what == WRITES) {
			mark(o, what, outer);
			return;
		}
		if (what == CONNECTION || what == ANSWER) {
			next(what == ANSWER ? field(o, "conn") : o, what == ANSWER ? field(o, "ackID") : null);
			return;
		}
		if (own == null) {
			own = new ArcCall[1];
			OPEN.set(own);
		}
		if (what == SEND || what == GET || what == BLOCKING || what == START)
			inner = makes(o, what, outer);
		else if (what == EXECUTE)
			inner = executes(o, outer);
		else
			inner = serves(o, what, outer);
		own[0] = inner;
		set(inner, outer);
		if (what == START)
			put(o, inner.out);
	}

	private static ArcCall makes(Object o, int what, ArcCall outer) throws ReflectiveOperationException {
		String in = outer == null ? null : outer.in, out;

		if (outer != null && outer.calls && what == START)
			rename(outer, of(o));
		if (outer != null && outer.calls)
			return new ArcCall(outer, what, true, in, outer.out, 0);
		if (what == GET && (field(o, "inputStream") != null || field(o, "rememberedException") != null))
			return new ArcCall(outer, what, false, in, null, 0);	/* the answer is there already */
		out = what == GET ? of(field(o, "requests"), "findValue") : what == BLOCKING ? null :
			what == START ? of(o) : of(call(o, "headers"), "firstValue");
		return new ArcCall(outer, what, true, in, out == null ? number() : out, System.nanoTime());
	}

	/* A call has begun before the number was seen that the program gives it; null: it gives none. */
	private static void rename(ArcCall c, String given) throws ReflectiveOperationException {
		if (given == null)
			return;
		c.out = given;
		label.invoke(null, LABEL, value(c));
	}

	private static ArcCall serves(Object o, int what, ArcCall outer) throws ReflectiveOperationException {
		String in = what == DISPATCH ? number(o, false) : what == HANDLER ? of(o) : what == LISTENER ? heard(o) :
			what == SERVICE ? of(o, "getHeader") : of(call(o, "getRequestHeaders"), "getFirst");

		if (in == null && outer != null)
			in = outer.in;
		return new ArcCall(outer, what, false, in, null, 0);
	}

	/* The request is about to be sent: it gets the number, unless the program says one. */
	private static void mark(Object o, int what, ArcCall call) throws ReflectiveOperationException {
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
		ArcCall[] own = OPEN.get();
		ArcCall c = own == null ? null : own[0];

		while (c != null && c.what != what)
			c = c.outer;
		if (c == null)
			return;
		own[0] = c.outer;
		if (c.begun != 0 && on)
			called(System.nanoTime() - c.begun, what);
		if (c.rmi != null)
			executed(c.rmi);
		set(c.outer, c);
	}

	/* ---- RMI ---- */

	/* The UID of the last answer by connection, or FIRST: there was none yet. */
	private static final Map<Object, String> NEXT = new WeakHashMap<>();
	private static final String FIRST = "";

	private static void forget() {
		synchronized (NEXT) {
			NEXT.clear();
		}
		synchronized (HEARD) {
			HEARD.clear();
		}
	}

	private static void next(Object connection, Object uid) {
		synchronized (NEXT) {
			NEXT.put(connection, uid == null ? FIRST : uid.toString());
		}
	}

	private static ArcCall executes(Object call, ArcCall outer) throws ReflectiveOperationException {
		String out = number(call, true);
		ArcCall c = new ArcCall(outer, EXECUTE, true, outer == null ? null : outer.in,
					out == null ? number() : out, System.nanoTime());

		c.rmi = call;
		return c;
	}

	/* The answer is there, or will never be. */
	private static void executed(Object call) throws ReflectiveOperationException {
		Object in = field(call, "in"), uid = in == null ? null : field(in, "ackID");

		if (uid != null)
			next(field(call, "conn"), uid);
	}

	/* The number of a call over its connection; null: that was used before we looked. */
	private static String number(Object call, boolean client) throws ReflectiveOperationException {
		Object connection = field(call, "conn");
		String last;

		synchronized (NEXT) {
			last = NEXT.remove(connection);
		}
		if (last == null && client && (Long)field(connection, "lastuse") == Long.MIN_VALUE)
			last = FIRST;
		if (last == null)
			return null;
		return hash(last != FIRST ? last : ends((Socket)field(connection, "socket"), client));
	}

	private static String ends(Socket s, boolean client) {
		String local = end(s.getLocalAddress(), s.getLocalPort()), remote = end(s.getInetAddress(), s.getPort());

		return client ? local + '>' + remote : remote + '>' + local;
	}

	private static String end(InetAddress a, int port) {
		return Arrays.toString(a.getAddress()) + port;
	}

	/* FNV-1a, and what SplitMix64 makes of it. */
	private static String hash(String s) {
		long h = 0xcbf29ce484222325L;

		for (int i = 0; i < s.length(); i++)
			h = (h ^ s.charAt(i)) * 0x100000001b3L;
		return hex(h);
	}

	/* ---- gRPC ---- */

	/* The number of the call that a listener is told of. */
	private static final Map<Object, String> HEARD = new WeakHashMap<>();

	private static void listens(Object listener) {
		ArcCall[] own = OPEN.get();

		if (own == null || own[0] == null || own[0].what != HANDLER || own[0].in == null || listener == null)
			return;
		synchronized (HEARD) {
			HEARD.put(listener, own[0].in);
		}
	}

	private static String heard(Object listener) {
		synchronized (HEARD) {
			return HEARD.get(listener);
		}
	}

	/* Of io.grpc.Metadata. */
	private static Object key(Object metadata, String name) throws ReflectiveOperationException {
		Class<?> type = metadata.getClass();
		ClassLoader of = type.getClassLoader();
		Class<?> marshaller = Class.forName(type.getName() + "$AsciiMarshaller", false, of);

		return Class.forName(type.getName() + "$Key", false, of).getMethod("of", String.class, marshaller)
			.invoke(null, name, type.getField("ASCII_STRING_MARSHALLER").get(null));
	}

	private static Object get(Object metadata, Object key) throws ReflectiveOperationException {
		return metadata.getClass().getMethod("get", key.getClass().getSuperclass()).invoke(metadata, key);
	}

	private static String of(Object metadata) throws ReflectiveOperationException {
		return number(text(get(metadata, key(metadata, HEADER))), text(get(metadata, key(metadata, TRACEPARENT))));
	}

	/* Unless the program says one. */
	private static void put(Object metadata, String number) throws ReflectiveOperationException {
		Object key = key(metadata, HEADER);

		if (of(metadata) == null)
			metadata.getClass().getMethod("put", key.getClass().getSuperclass(), Object.class)
				.invoke(metadata, key, number);
	}

	/* ---- labels ---- */

	/* "IN>OUT": what the thread is at, if it is not as before. */
	private static void set(ArcCall c, ArcCall before) throws ReflectiveOperationException {
		String value = value(c), had = value(before);

		if (value == null ? had != null : !value.equals(had))
			label.invoke(null, LABEL, value);
	}

	private static String value(ArcCall c) {
		if (c == null || c.in == null && c.out == null)
			return null;
		return (c.in == null ? "" : c.in) + '>' + (c.out == null ? "" : c.out);
	}

	/* ---- numbers ---- */

	/* Numbers of SplitMix64: Steele and others, "Fast splittable pseudorandom number generators" (2014). */
	private static String number() {
		return hex(seed + 0x9e3779b97f4a7c15L * numbers.incrementAndGet());
	}

	private static String hex(long z) {
		z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
		z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
		z ^= z >>> 31;
		return Long.toHexString(z | 1L << 63);
	}

	/* The number that headers have, ours or the parent-id of W3C's traceparent; null: none. */
	private static String of(Object headers, String method) throws ReflectiveOperationException {
		Method get = method(headers.getClass(), method, String.class);

		return number(text(get.invoke(headers, HEADER)), text(get.invoke(headers, TRACEPARENT)));
	}

	private static String number(String own, String parent) {
		String s = hex(own);

		if (s != null)
			return s;
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
	private static native void called(long ns, int what);

	/* Something was not as it should be. */
	private static native void missed(String why, int what);
}
