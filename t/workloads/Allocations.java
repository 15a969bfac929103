/*
 * Allocates objects of known size and number: prints "method bytes number" for each method, with the bytes
 * of one object as 64-bit JVMs with compressed class pointers have them. Sizes alternate, round by round.
 *
 *	[-Drounds=<n>] Allocations [<megabytes>] [<library>]
 *
 * Each method allocates so many megabytes, in a thread that begins when the VM is up. The library has the native
 * method: see the test.
 */
import java.io.*;
import java.util.*;

public class Allocations {
	static class Tiny { int a; }				/* 12 + 4 */
	static class Copied implements Cloneable {		/* 12 + 4 + 8 * 8 */
		long a, b, c, d, e, f, g, h;
		int i;

		Copied copy() throws CloneNotSupportedException { return (Copied) clone(); }
	}
	static class Read implements Serializable { long[] a = new long[48]; }	/* 16, and 16 + 48 * 8 */
	static final int ROUNDS = Integer.getInteger("rounds", 16);
	static volatile Object sink;

	interface Maker { void make(int n) throws Exception; }

	static native void nativeArrays(int n);		/* of 2000 - 16 bytes */

	static void tiny(int n) { for (int i = 0; i < n; i++) sink = new Tiny(); }
	static void hundred(int n) { for (int i = 0; i < n; i++) sink = new byte[88]; }
	static void thousand(int n) { for (int i = 0; i < n; i++) sink = new byte[1008]; }
	static void large(int n) { for (int i = 0; i < n; i++) sink = new byte[100000 - 16]; }
	static void huge(int n) { for (int i = 0; i < n; i++) sink = new byte[(4 << 20) - 16]; }
	static void reflected(int n) {
		for (int i = 0; i < n; i++)
			sink = java.lang.reflect.Array.newInstance(int.class, 246);
	}
	static void cloned(int n) throws Exception {
		Copied from = new Copied();

		for (int i = 0; i < n; i++)
			sink = from.copy();
	}
	static void deserialised(int n) throws Exception {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();

		try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
			for (int i = 0; i < n; i++)
				out.writeUnshared(new Read());
		}
		readAll(new ByteArrayInputStream(bytes.toByteArray()), n);
	}
	static void readAll(InputStream from, int n) throws Exception {
		try (ObjectInputStream in = new ObjectInputStream(from)) {
			for (int i = 0; i < n; i++)
				sink = in.readUnshared();
		}
	}

	static final Map<String, Maker> MAKERS = new LinkedHashMap<>();
	static final Map<String, Integer> SIZES = new LinkedHashMap<>();

	static void add(String name, int bytes, Maker maker) {
		MAKERS.put(name, maker);
		SIZES.put(name, bytes);
	}

	static int number(String name, long megabytes) {
		return (int) ((megabytes << 20) / SIZES.get(name) / ROUNDS);
	}

	static void run(long megabytes) {
		try {
			for (int i = 0; i < ROUNDS; i++)
				for (Map.Entry<String, Maker> e : MAKERS.entrySet())
					e.getValue().make(number(e.getKey(), megabytes));
		} catch (Exception e) {
			throw new IllegalStateException(e);
		}
	}

	static void prepare(String[] args) {
		add("tiny", 16, Allocations::tiny);
		add("hundred", 104, Allocations::hundred);
		add("thousand", 1024, Allocations::thousand);
		add("large", 100000, Allocations::large);
		add("huge", 4 << 20, Allocations::huge);
		add("reflected", 1000, Allocations::reflected);
		add("cloned", 80, Allocations::cloned);
		add("deserialised", 400, Allocations::deserialised);
		if (args.length > 1) {
			System.load(args[1]);
			add("nativeArrays", 2000, Allocations::nativeArrays);
		}
	}

	static void print(long megabytes) {
		for (String name : MAKERS.keySet())
			System.out.println(name + " " + SIZES.get(name) + " " + number(name, megabytes) * ROUNDS);
	}

	public static void main(String[] args) throws InterruptedException {
		long megabytes = args.length > 0 ? Integer.parseInt(args[0]) : 64;

		prepare(args);
		Thread t = new Thread(() -> run(megabytes), "allocator");
		t.start();
		t.join();
		print(megabytes);
	}
}
