// SPDX-License-Identifier: MIT
package arcprof;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashSet;

/**
 * A mark or phase with named values. {@code arcprof record -e mark} records them; elsewhere they cost next to
 * nothing.
 *
 * <pre>{@code
 * private static final Event REQUEST = new Event("request", "path", "status", "seconds");
 * ...
 * REQUEST.now().put(path).put(200).put(0.25).emit();
 * long begun = Mark.begin();           // or a phase
 * ...
 * REQUEST.since(begun).put(path).put(status).emit();
 * }</pre>
 *
 * <p>The values are those of the names in their order; what is missing at the end is left out, what is too much is
 * ignored. A string is cut after 1023 bytes of UTF-8; null: its value is left out. Needs
 * {@code libarcprof-java.so}, as {@link Mark} does. Events of a virtual thread are its own.
 */
public final class Event {
	/* Types as lib/base/fields.h has them; 0: no value. */
	private static final int I64 = 1, F64 = 2, TEXT = 3, MAX_FIELDS = 16, MAX_NAME = 63, MAX_TEXT = 1023;
	/* What is as short as that is passed on in registers. */
	private static final int SHORT = 64;
	private static final Values NONE = new Values(null, 0);

	private final long kind;
	private final int nr;

	/**
	 * Kept for ever: make few of them, each once.
	 *
	 * @throws IllegalArgumentException there are more than 16 names, one is there twice, or has not 1 to 63
	 *         letters, digits and _ - . , of which the first is a letter or _
	 */
	public Event(String name, String... fields) {
		check(fields);
		nr = fields.length;
		kind = Mark.isLoaded() ? define(Mark.keep(name), Mark.keep(String.join(" ", fields))) : 0;
	}

	private static void check(String[] names) {
		HashSet<String> known = new HashSet<>();

		if (names.length > MAX_FIELDS)
			throw new IllegalArgumentException("more than " + MAX_FIELDS + " fields");
		for (String n : names) {
			if (!n.matches("[A-Za-z_][A-Za-z0-9_.-]*") || n.length() > MAX_NAME)
				throw new IllegalArgumentException("invalid name of a field: " + n);
			if (!known.add(n))
				throw new IllegalArgumentException("two fields have the name " + n);
		}
	}

	/** This moment, when it is emitted. */
	public Values now() {
		return Mark.isOn() ? new Values(this, 0) : NONE;
	}

	/** From then until it is emitted; nothing if nothing was recorded then. */
	public Values since(long begun) {
		return begun != 0 && Mark.isOn() ? new Values(this, begun) : NONE;
	}

	/** The values of one event, of one thread at a time. */
	public static final class Values {
		private final Event event;
		private final long begun;
		private byte[] bytes;
		private int len, nr;

		private Values(Event event, long begun) {
			this.event = event;
			this.begun = begun;
			bytes = event == null ? null : new byte[SHORT];
		}

		/* Room for the next value; false: there is no such field. */
		private boolean begin(int type, int most) {
			if (event == null || nr == event.nr)
				return false;
			nr++;
			if (len + 1 + most > bytes.length)
				bytes = Arrays.copyOf(bytes, 2 * (len + 1 + most));
			bytes[len++] = (byte)type;
			return true;
		}

		private void put64(long v) {
			ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(len, v);
			len += 8;
		}

		public Values put(long value) {
			if (begin(I64, 8))
				put64(value);
			return this;
		}

		public Values put(double value) {
			if (begin(F64, 8))
				put64(Double.doubleToRawLongBits(value));
			return this;
		}

		public Values put(String value) {
			int chars = value == null ? 0 : Math.min(value.length(), MAX_TEXT);

			if (begin(value == null ? 0 : TEXT, 2 + 3 * chars) && value != null)
				putText(value, chars);
			return this;
		}

		/* As UTF-8; what is no character becomes a question mark. */
		private void putText(String value, int chars) {
			final int begun = len + 2;
			int at = begun, i = 0;
			byte[] b = bytes;

			for (; i < chars; i++) {
				char c = value.charAt(i);

				if (c >= 0x80 || c == 0)
					break;
				b[at++] = (byte)c;
			}
			while (i < chars) {
				int c = value.codePointAt(i);
				int next = putChar(at, c >= 0xd800 && c < 0xe000 || c == 0 ? '?' : c);

				if (next - begun > MAX_TEXT)
					break;
				at = next;
				i += Character.charCount(c);
			}
			b[begun - 2] = (byte)(at - begun);
			b[begun - 1] = (byte)(at - begun >> 8);
			len = at;
		}

		private int putChar(int at, int c) {
			if (c < 0x80) {
				bytes[at++] = (byte)c;
				return at;
			}
			if (c < 0x800) {
				bytes[at++] = (byte)(0xc0 | c >> 6);
			} else {
				if (c < 0x10000) {
					bytes[at++] = (byte)(0xe0 | c >> 12);
				} else {
					bytes[at++] = (byte)(0xf0 | c >> 18);
					bytes[at++] = (byte)(0x80 | c >> 12 & 0x3f);
				}
				bytes[at++] = (byte)(0x80 | c >> 6 & 0x3f);
			}
			bytes[at++] = (byte)(0x80 | c & 0x3f);
			return at;
		}

		public void emit() {
			if (event == null)
				return;
			if (len > SHORT) {
				emitLong(event.kind, Mark.vthread(), begun, bytes, len);
				return;
			}
			ByteBuffer b = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
			emitShort(event.kind, Mark.vthread(), begun, len, b.getLong(0), b.getLong(8), b.getLong(16),
				b.getLong(24), b.getLong(32), b.getLong(40), b.getLong(48), b.getLong(56));
		}
	}

	private static native long define(long name, long fields);

	private static native void emitLong(long kind, long vthread, long begun, byte[] values, int len);

	private static native void emitShort(long kind, long vthread, long begun, int len, long a, long b, long c,
		long d, long e, long f, long g, long h);
}
