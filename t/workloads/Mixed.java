import java.io.*;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.regex.*;
import java.util.stream.*;
import java.util.zip.*;

/** A bit of everything a JVM does, on the main thread and two others; prints a checksum. */
public class Mixed {
	interface Shape { double area(); }
	record Circle(double r) implements Shape { public double area() { return Math.PI * r * r; } }
	record Square(double a) implements Shape { public double area() { return a * a; } }
	record Tri(double a, double b) implements Shape { public double area() { return a * b / 2; } }

	static long strings(int n) {
		StringBuilder b = new StringBuilder();
		for (int i = 0; i < n; i++)
			b.append("item ").append(i * 31).append(';').append(Integer.toHexString(i));
		long h = 0;
		for (String s : b.toString().split(";"))
			h = h * 31 + s.toUpperCase().hashCode() + s.compareTo("item 500");
		return h;
	}

	static long regex(int n) {
		Pattern p = Pattern.compile("(\\w+)@(\\w+)\\.(com|org|net)");
		Matcher m = p.matcher("alice@example.com bob@test.org nobody at home carol@site.net ".repeat(n));
		long c = 0;
		while (m.find())
			c += m.group(1).length() + m.start(3);
		return c;
	}

	static long zip(int n) throws Exception {
		byte[] in = new byte[n];
		for (int i = 0; i < n; i++)
			in[i] = (byte) (i * i >> 3);
		ByteArrayOutputStream o = new ByteArrayOutputStream();
		try (GZIPOutputStream g = new GZIPOutputStream(o)) { g.write(in); }
		CRC32 c = new CRC32();
		try (GZIPInputStream g = new GZIPInputStream(new ByteArrayInputStream(o.toByteArray()))) {
			c.update(g.readAllBytes());
		}
		return c.getValue();
	}

	static int thrower(int d) {
		if (d == 0)
			throw new IllegalStateException("bottom");
		return thrower(d - 1) + 1;
	}

	static long exceptions(int n) {
		long c = 0;
		for (int i = 0; i < n; i++)
			try { c += thrower(i % 20); } catch (IllegalStateException e) { c += e.getStackTrace().length; }
		return c;
	}

	static long streams(int n) {
		return IntStream.range(0, n).boxed().filter(i -> i % 3 != 0).map(i -> "k" + i % 100)
			.collect(Collectors.groupingBy(s -> s, TreeMap::new, Collectors.counting()))
			.values().stream().mapToLong(x -> x).sum();
	}

	static long sort(int n) {
		Random r = new Random(1);
		List<String> l = new ArrayList<>();
		for (int i = 0; i < n; i++)
			l.add(Long.toString(r.nextLong(), 36));
		Collections.sort(l);
		int[] a = r.ints(n).toArray();
		Arrays.sort(a);
		return l.get(n / 2).hashCode() + a[n / 2];
	}

	static long reflect(int n) throws Exception {
		Method m = Mixed.class.getDeclaredMethod("add", int.class, int.class);
		long c = 0;
		for (int i = 0; i < n; i++)
			c += (Integer) m.invoke(null, i, 3);
		return c;
	}

	static int add(int a, int b) { return a + b; }

	static long io(int n) throws Exception {
		File f = File.createTempFile("mixed", ".txt");
		try (PrintWriter w = new PrintWriter(new OutputStreamWriter(new FileOutputStream(f), StandardCharsets.UTF_8))) {
			for (int i = 0; i < n; i++)
				w.printf("%d %s %.3f%n", i, "zeile " + i, i / 7.0);
		}
		long c = 0;
		try (BufferedReader r = new BufferedReader(new FileReader(f))) {
			for (String s; (s = r.readLine()) != null;)
				c += s.length();
		}
		f.delete();
		return c;
	}

	static long deep(int d) { return d == 0 ? System.nanoTime() & 1 : deep(d - 1) + (d & 1); }

	static double shapes(int n) {
		Shape[] s = { new Circle(1), new Square(2), new Tri(3, 4) };
		double a = 0;
		for (int i = 0; i < n; i++)
			a += s[i % 3].area() + Math.sin(i) + Math.pow(i % 10, 1.5);
		return a;
	}

	static long serial(int n) throws Exception {
		ByteArrayOutputStream b = new ByteArrayOutputStream();
		HashMap<String, List<Integer>> m = new HashMap<>();
		for (int i = 0; i < n; i++)
			m.computeIfAbsent("k" + i % 50, k -> new ArrayList<>()).add(i);
		try (ObjectOutputStream o = new ObjectOutputStream(b)) { o.writeObject(m); }
		try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(b.toByteArray()))) {
			return ((Map<?, ?>) in.readObject()).size() + b.size();
		}
	}

	static long arrays(int n) {
		byte[] a = new byte[n], b = new byte[n];
		long c = 0;
		for (int i = 0; i < 40; i++) {
			System.arraycopy(a, i, b, 0, n - i);
			Arrays.fill(a, (byte) i);
			c += Arrays.equals(a, b) ? 1 : 0;
			c += Arrays.copyOfRange(b, 3, n).length;
		}
		Object[] o = new Object[n / 64];
		for (int i = 0; i < 20; i++) {
			Arrays.fill(o, "x" + i);
			c += o.clone().length + Arrays.asList(o).indexOf("y");
		}
		return c;
	}

	static long lambdas(int n) throws Exception {
		long c = 0;
		for (int i = 0; i < n; i++) {
			final int k = i;
			java.util.function.IntUnaryOperator f = i % 2 == 0 ? x -> x + k : x -> x * k;
			c += f.andThen(x -> x ^ 5).applyAsInt(i);
		}
		return c;
	}

	static long round() throws Exception {
		long h = strings(8000) + regex(2000) + zip(300000) + exceptions(3000) + streams(60000) + sort(30000);
		h += reflect(60000) + io(3000) + serial(4000) + arrays(400000) + lambdas(100000);
		for (int i = 0; i < 300; i++)
			h += deep(400 + i);
		return h + (long) shapes(200000);
	}

	public static void main(String[] a) throws Exception {
		int n = a.length > 0 ? Integer.parseInt(a[0]) : 5, nt = a.length > 1 ? Integer.parseInt(a[1]) : 2;
		long[] sum = new long[nt];
		Thread[] t = new Thread[nt];
		for (int k = 0; k < nt; k++) {
			final int me = k;
			t[k] = new Thread(() -> {
				try {
					for (int i = 0; i < n; i++)
						sum[me] += round() & 0xff;
				} catch (Exception e) { throw new RuntimeException(e); }
			}, "mixed-" + k);
			t[k].start();
		}
		for (int i = 0; i < n; i++)
			round();
		for (Thread x : t)
			x.join();
		System.out.println("done");
	}
}
