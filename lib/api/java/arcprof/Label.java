// SPDX-License-Identifier: MIT
package arcprof;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.charset.StandardCharsets;

/**
 * What the current thread works for: an endpoint, a tenant, a trace id. Where the program runs under
 * {@code arcprof record -e label}, each sample has the labels that its thread had at its time, and reports select
 * and group by them; elsewhere they cost next to nothing.
 *
 * <pre>{@code
 * try (Label l = Label.set("endpoint", "/cart")) {
 *         ...
 * }
 * }</pre>
 *
 * <p>Labels belong to the thread that sets them, virtual or not: a virtual thread takes them along to whatever
 * carries it. {@link #close()} gives the thread back the labels that it had before, all of them; it is to be
 * called by the same thread, of scopes within each other the inner one first, and does nothing in another thread.
 *
 * <p>A key has up to 63 letters, digits and _ - . and begins with a letter or _; a value has 1 to 255 bytes of
 * UTF-8, without commas, backslashes and control characters. What is none leaves the thread without a label of that
 * key, rather than with an old one; as does a null. All labels of a thread take up to 510 bytes.
 *
 * <p>In a JVM that arcprof records, its agent defines this class for all class loaders, so that it can be found by
 * its name without {@code arcprof.jar}. Otherwise {@code libarcprof-java.so} is needed, found as {@link ThreadTime}
 * finds it; without it nothing is labelled.
 */
public final class Label implements AutoCloseable {
	private static final int MAX_KEY = 63, MAX_VALUE = 255, MAX_TEXT = 510;
	private static final byte[] NONE = {};
	private static final Label OFF = new Label(null, NONE);
	private static final boolean ON = find();
	/* Thread.isVirtual(), null before JDK 21 */
	private static final MethodHandle IS_VIRTUAL = ON ? isVirtual() : null;

	private static final ThreadLocal<Label> OWN = new ThreadLocal<>();

	/* Either a thread's labels: */
	private final Thread thread;
	private final int tid;		/* of the kernel's thread; of a virtual one, of its first carrier */
	private final long vthread;
	private byte[] text = NONE;	/* "key=value,key=value", never changed in place */
	private int nr;
	/* or a scope: whose, and what it had before */
	private final Label own;
	private final byte[] before;

	private Label(Thread thread) {
		this.thread = thread;
		tid = tid();
		vthread = idIfVirtual(thread);
		own = null;
		before = NONE;
	}

	private Label(Label own, byte[] before) {
		thread = null;
		tid = 0;
		vthread = 0;
		this.own = own;
		this.before = before;
	}

	private static Label own() {
		Label own = OWN.get();

		if (own == null) {
			own = new Label(Thread.currentThread());
			OWN.set(own);
		}
		return own;
	}

	private void change(byte[] to) {
		text = to;
		put(tid, vthread, ++nr, to);
	}

	/** Gives the current thread this label, in place of one of that key, until the result is closed. */
	public static Label set(String key, String value) {
		if (!ON)
			return OFF;
		Label own = own(), scope = new Label(own, own.text);

		own.change(with(own.text, key, value));
		return scope;
	}

	/** Gives the thread back the labels that it had. */
	@Override
	public void close() {
		if (own != null && own.thread == Thread.currentThread())
			own.change(before);
	}

	private static boolean find() {
		try {
			return isOn();		/* defined by the agent */
		} catch (UnsatisfiedLinkError e) {
			return load() && isOn();
		}
	}

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

	private static MethodHandle isVirtual() {
		try {
			return MethodHandles.publicLookup().findVirtual(Thread.class, "isVirtual",
									MethodType.methodType(boolean.class));
		} catch (ReflectiveOperationException e) {
			return null;
		}
	}

	@SuppressWarnings("deprecation")	/* threadId() is younger, and cannot be overridden */
	private static long idIfVirtual(Thread t) {
		try {
			return IS_VIRTUAL != null && (boolean)IS_VIRTUAL.invokeExact(t) ? t.getId() : 0;
		} catch (Throwable e) {
			return 0;
		}
	}

	private static boolean isKey(String key) {
		for (int i = 0; i < key.length(); i++) {
			char c = key.charAt(i);

			if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && c != '_' &&
			    (i == 0 || !(c >= '0' && c <= '9') && c != '-' && c != '.'))
				return false;
		}
		return !key.isEmpty() && key.length() <= MAX_KEY;
	}

	private static boolean isValue(byte[] value) {
		for (byte c : value)
			if (c >= 0 && c < ' ' || c == ',' || c == '\\' || c == 0x7f)
				return false;
		return value.length > 0 && value.length <= MAX_VALUE;
	}

	/* Where the label of the key begins in the text; -1: nowhere. */
	private static int find(byte[] text, String key) {
		for (int i = 0, k; i < text.length; i++) {
			for (k = 0; k < key.length() && i + k < text.length && text[i + k] == key.charAt(k); k++)
				;
			if (k == key.length() && i + k < text.length && text[i + k] == '=')
				return i;
			while (i < text.length && text[i] != ',')
				i++;
		}
		return -1;
	}

	private static byte[] without(byte[] text, String key) {
		int at = find(text, key), end = at;

		if (at < 0)
			return text;
		while (end < text.length && text[end] != ',')
			end++;
		if (end < text.length)
			end++;
		else if (at > 0)
			at--;
		byte[] t = new byte[text.length - (end - at)];

		System.arraycopy(text, 0, t, 0, at);
		System.arraycopy(text, end, t, at, text.length - end);
		return t;
	}

	private static byte[] with(byte[] text, String key, String value) {
		if (key == null || !isKey(key))
			return text;
		byte[] v = value == null ? NONE : value.getBytes(StandardCharsets.UTF_8);
		byte[] rest = without(text, key);
		int at = rest.length > 0 ? rest.length + 1 : 0;

		if (!isValue(v) || at + key.length() + 1 + v.length > MAX_TEXT)
			return rest;
		byte[] t = new byte[at + key.length() + 1 + v.length];

		System.arraycopy(rest, 0, t, 0, rest.length);
		if (at > 0)
			t[at - 1] = ',';
		for (int i = 0; i < key.length(); i++)
			t[at + i] = (byte)key.charAt(i);
		t[at + key.length()] = '=';
		System.arraycopy(v, 0, t, at + key.length() + 1, v.length);
		return t;
	}

	private static native boolean isOn();

	private static native int tid();

	/* The current thread, or the virtual thread of that id which it carries, has these labels from now on. */
	private static native void put(int tid, long vthread, int nr, byte[] text);
}
