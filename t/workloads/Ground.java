import java.util.*;
import java.util.zip.CRC32;

/**
 * A chain whose every stack is known: main calls f0, f0 calls f1, ... f9; only f9 calls
 * anything else. Run with -XX:CompileCommand=dontinline,Ground.f* so that compiled frames are
 * the same; then a sample that shows one fN must show all of fN ... f0, main, in a row.
 */
public class Ground {
	static int sink;
	static final String[] words = new String[64];
	static final byte[] bytes = new byte[4096], other = new byte[4096];
	static final long[] longs = new long[512];

	static int own(int n) { return n * 31 + (n >>> 3); }

	static int f0(int n) { int h = 0; for (int i = 0; i < 20; i++) h += f1(n + i); return h; }
	static int f1(int n) { return f2(n) ^ n; }
	static int f2(int n) { int h = n; for (int i = 0; i < 30; i++) h = h * 31 + i; return h + f3(h); }
	static int f3(int n) { return f4(n) + 1; }
	static int f4(int n) { try { return f5(n); } finally { sink++; } }
	static int f5(int n) { synchronized (longs) { return f6(n); } }
	static int f6(int n) { return f7(n, n * 2L, 1.5 * n, "x"); }
	static int f7(int n, long l, double d, String s) { return f8(n) + (int) (l + d) + (s == null ? 1 : 2); }
	static int f8(int n) { int h = n; for (int i = 0; i < 50; i++) h ^= h << 3; return f9(n) + h; }

	static int f9(int n) {
		switch (n & 15) {
		case 0: return words[n & 63].compareTo(words[n >> 3 & 63]);
		case 1: System.arraycopy(bytes, 0, other, n & 7, 2000); return 1;
		case 2: return Arrays.equals(bytes, other) ? 1 : 0;
		case 3: return new StringBuilder().append(n).append(words[n & 63]).toString().hashCode();
		case 4: return (int) (Math.sin(n) * 100 + Math.pow(n & 63, 1.7) + Math.log(n & 1023 | 1));
		case 5: CRC32 c = new CRC32(); c.update(bytes, 0, 500); return (int) c.getValue();
		case 6: try { throw new IllegalStateException(); } catch (IllegalStateException e) { return 3; }
		case 7: return words[n & 63].indexOf("99") + words[n >> 2 & 63].hashCode();
		case 8: Arrays.fill(longs, n); return (int) longs[n & 511];
		case 9: return new int[200].clone().length + bytes.clone().length;
		case 10: return (int) System.nanoTime() + (int) System.currentTimeMillis();
		case 11: Object o = words; return o instanceof Object[] && o instanceof Comparable[] ? 2 : 1;
		case 12: HashMap<Integer, String> m = new HashMap<>(); m.put(n, "a"); m.put(n + 1, "b"); return m.size();
		case 13: return String.valueOf(n).toUpperCase().length() + Integer.toHexString(n).length();
		case 14: return Thread.currentThread().hashCode() + Objects.hash(n, "q");
		default: int[] a = longs.length > 0 ? new int[40] : null; for (int i = 0; i < 40; i++) a[i] = n * i & 255; Arrays.sort(a); return a[7];
		}
	}

	public static void main(String[] a) {
		long end = System.nanoTime() + (a.length > 0 ? Long.parseLong(a[0]) : 5) * 1_000_000_000L;
		for (int i = 0; i < words.length; i++)
			words[i] = "word number " + i * 7;
		int h = 0;
		for (int i = 0; System.nanoTime() < end; i++)
			h += f0(i);
		System.out.println("done " + (h == 1));
	}
}
