// SPDX-License-Identifier: GPL-2.0-or-later
import java.lang.reflect.Field;
import sun.misc.Unsafe;

/**
 * Looks for short strings in others for args[0] ms, where they lie at the ends of pages: code of the JVM copies them to the
 * stack. Needs a heap below 4 GB, in which objects stay where they are.
 */
public class Seeks {
	static int found;

	static int seek(String in, String of) {
		return in.indexOf(of);
	}

	static void seekAll(String[] in, String[] of) {
		for (int i = 0; i < in.length; i++)
			found += seek(in[i], of[i]);
	}

	/** Of many strings with these characters those of which 16 bytes reach into the next page. */
	static String[] atEnds(Unsafe u, long value, String text) {
		String[] all = new String[60000];
		String[] out = new String[64];
		int n = 0;
		for (int i = 0; i < all.length; i++)
			all[i] = new String(text.toCharArray());
		System.gc();
		Object[] box = new Object[1];
		for (int i = 0; i < all.length && n < out.length; i++) {
			box[0] = u.getObject(all[i], value);
			long address = u.getInt(box, (long) u.arrayBaseOffset(Object[].class)) & 0xffffffffL;
			if ((address + u.arrayBaseOffset(byte[].class) & 4095) > 4080)
				out[n++] = all[i];
		}
		System.out.println(n + " of " + text);
		return java.util.Arrays.copyOf(out, n);
	}

	public static void main(String[] args) throws Exception {
		Field f = Unsafe.class.getDeclaredField("theUnsafe");
		f.setAccessible(true);
		Unsafe u = (Unsafe) f.get(null);
		long value = u.objectFieldOffset(String.class.getDeclaredField("value"));
		String[] in = atEnds(u, value, "abcabcabdabcd");
		String[] of = atEnds(u, value, "abcabdabcd");
		int n = Math.min(in.length, of.length);
		in = java.util.Arrays.copyOf(in, n);
		of = java.util.Arrays.copyOf(of, n);
		long end = System.nanoTime() + Long.parseLong(args[0]) * 1000000;
		while (System.nanoTime() < end)
			for (int i = 0; i < 50; i++)
				seekAll(in, of);
	}
}
