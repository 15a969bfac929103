// SPDX-License-Identifier: GPL-2.0-or-later
import java.util.ArrayList;
import java.util.List;

/**
 * What conditions of a recording look out for: each argument is something to do, one after the other.
 *
 *	early=MS, late=MS	spin so long in the method of that name
 *	oom			exhaust the heap once, and go on
 *	gc			three collections
 *	exit=N			end with that status
 */
public class Flight {
	static volatile long sink;

	static void spin(long ms) {
		long end = System.nanoTime() + ms * 1000000;

		while (System.nanoTime() < end)
			for (int i = 0; i < 1000; i++)
				sink = sink * 31 + i;
	}

	static void early(long ms) {
		spin(ms);
	}

	static void late(long ms) {
		spin(ms);
	}

	static void exhaust() {
		List<byte[]> all = new ArrayList<>();

		try {
			for (;;)
				all.add(new byte[1 << 20]);
		} catch (OutOfMemoryError e) {
			all.clear();
		}
	}

	public static void main(String[] args) {
		for (String arg : args) {
			String[] part = arg.split("=");
			int n = part.length > 1 ? Integer.parseInt(part[1]) : 0;

			switch (part[0]) {
			case "early": early(n); break;
			case "late": late(n); break;
			case "oom": exhaust(); break;
			case "gc": for (int i = 0; i < 3; i++) System.gc(); break;
			case "exit": System.exit(n);
			}
		}
	}
}
