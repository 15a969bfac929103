/* SPDX-License-Identifier: GPL-2.0-or-later */
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.CRC32;

/*
 * The same work in each run, but for one method: difference.sh compares recordings of it. Prints the CPU time
 * of score(), which is the truth, and of all.
 *
 *	java Plants <rounds of score()> <units> [new|gone]	validate() is new, or audit() is gone
 */
class Plants {
	static long sink;
	static final Random random = new Random(7);
	static final Pattern pattern = Pattern.compile("([a-z]+)-(\\d+)(?:\\.x)?");
	static final List<Item> items = new ArrayList<>();

	static final class Item {
		final String name;
		final int price;

		Item(String name, int price) {
			this.name = name;
			this.price = price;
		}

		@Override
		public int hashCode() {
			return name.hashCode() * 31 + price;
		}

		@Override
		public boolean equals(Object o) {
			return o instanceof Item && ((Item)o).price == price && ((Item)o).name.equals(name);
		}
	}

	static int sort() {
		List<Item> list = new ArrayList<>(items);

		list.sort(Comparator.comparing((Item i) -> i.name).thenComparing(i -> i.price));
		return list.get(0).price;
	}

	static int count() {
		Map<Item, Integer> counts = new HashMap<>();

		for (int i = 0; i < 500; i++)
			counts.merge(items.get(random.nextInt(items.size())), 1, Integer::sum);
		return counts.size();
	}

	static int group() {
		return items.stream().filter(i -> i.price % 3 != 0)
			.collect(Collectors.groupingBy(i -> i.name.length(), TreeMap::new, Collectors.counting()))
			.size();
	}

	static int match() {
		int nr = 0;

		for (Item i : items) {
			Matcher m = pattern.matcher(i.name);
			if (m.matches())
				nr += m.group(2).length();
		}
		return nr;
	}

	static void quote(StringBuilder b, String s) {
		b.append('"');
		for (int i = 0; i < s.length(); i++) {
			if (s.charAt(i) == '"')
				b.append('\\');
			b.append(s.charAt(i));
		}
		b.append('"');
	}

	static String write() {
		StringBuilder b = new StringBuilder();

		for (Item i : items) {
			quote(b, i.name);
			b.append(':').append(i.price).append(',');
		}
		return b.toString();
	}

	static int read(String s) {
		int nr = 0, at = 0, end;

		while ((end = s.indexOf(',', at)) >= 0) {
			nr += Integer.parseInt(s.substring(s.indexOf(':', at) + 1, end));
			at = end + 1;
		}
		return nr;
	}

	static int distance(String a, String b) {
		int[] p = new int[b.length() + 1], q = new int[b.length() + 1];

		for (int j = 0; j < p.length; j++)
			p[j] = j;
		for (int i = 1; i <= a.length(); i++) {
			q[0] = i;
			for (int j = 1; j < p.length; j++)
				q[j] = Math.min(Math.min(q[j - 1], p[j]) + 1,
						p[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1));
			int[] t = p;
			p = q;
			q = t;
		}
		return p[b.length()];
	}

	static double multiply() {
		double[] a = new double[48 * 48], c = new double[48 * 48];

		Arrays.fill(a, 1.5);
		for (int i = 0; i < 48; i++)
			for (int j = 0; j < 48; j++) {
				double s = 0;
				for (int k = 0; k < 48; k++)
					s += a[i * 48 + k] * a[k * 48 + j];
				c[i * 48 + j] = s;
			}
		return c[77];
	}

	static long check(byte[] b) {
		CRC32 c = new CRC32();

		for (int i = 0; i < 40; i++)
			c.update(b);
		return c.getValue();
	}

	/* What plants change. */
	static int score(int[] row, int rounds) {
		int h = 17;

		for (int r = 0; r < rounds; r++)
			for (int i = 0; i < row.length; i++) {
				h = h * 31 + row[i];
				if ((h & 7) == 3)
					h ^= h >>> 11;
			}
		return h;
	}

	static long audit(byte[] b, int rounds) {
		long h = 1;

		for (int r = 0; r < rounds; r++)
			for (int i = 0; i < 64; i++)
				h += (h ^ b[i]) * 5 + (h >>> 33);
		return h;
	}

	static long validate(byte[] b, int rounds) {
		long h = 1;

		for (int r = 0; r < rounds; r++)
			for (int i = 0; i < 64; i++)
				h = (h ^ b[i]) * 0x5851f42d4c957f2dL + (h >>> 33);
		return h;
	}

	public static void main(String[] args) {
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();
		int rounds = Integer.parseInt(args[0]), units = Integer.parseInt(args[1]);
		String plant = args.length > 2 ? args[2] : "";
		int[] row = new int[64];
		long ofScore = 0;

		for (int i = 0; i < 300; i++)
			items.add(new Item((i % 3 == 0 ? "bolt-" : "gear-") + random.nextInt(9999) + (i % 2 == 0 ? ".x" : ""),
				random.nextInt(5000)));
		for (int u = 0; u < units; u++) {
			String text = write();
			byte[] bytes = text.getBytes(StandardCharsets.UTF_8);

			row[u % 64] += u;
			sink += sort() + count() + group() + match() + read(text) + (long)multiply() + check(bytes);
			for (int i = 0; i < 25; i++)
				sink += distance(items.get(i).name, items.get(i + 40).name);
			long start = threads.getCurrentThreadCpuTime();
			for (int i = 0; i < 50; i++)
				sink += score(row, rounds);
			ofScore += threads.getCurrentThreadCpuTime() - start;
			if (!plant.equals("gone"))
				sink += audit(bytes, 120);
			if (plant.equals("new"))
				sink += validate(bytes, 180);
		}
		System.out.println(ofScore + " " + threads.getCurrentThreadCpuTime());
		if (sink == 42)
			System.out.println();
	}
}
