import java.util.List;

/*
 * Calls of known number, with work of known shares below them in a class of its own, Spin, which is meant not to be
 * instrumented: of 8 parts 1 is below once(), 3 below thrice(), 2 at the end of a recursion, 2 in a lambda that
 * the JDK calls. The same part is one loop everywhere.
 *
 *	Graft [<rounds> [<work>]]
 */
public class Graft {
	static void once(int n) {
		leaf(n);
	}

	static void thrice(int n) {
		leaf(n);
		leaf(n);
		leaf(n);
	}

	static void leaf(int n) {
		Spin.part(n);
	}

	static int deep(int levels, int n) {
		if (levels == 0) {
			Spin.part(n);
			Spin.part(n);
			return 0;
		}
		return 1 + deep(levels - 1, n);
	}

	static void each(List<Integer> list) {
		list.stream().map(n -> n).forEach(n -> leaf(n));
	}

	public static void main(String[] args) {
		int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 2000;
		int work = args.length > 1 ? Integer.parseInt(args[1]) : 20000;
		List<Integer> two = List.of(work, work);

		for (int i = 0; i < rounds; i++) {
			once(work);
			thrice(work);
			deep(10, work);
			each(two);
		}
		System.out.println("spun " + (Spin.sink != 0));
	}
}

class Spin {
	static int sink;

	static void part(int n) {
		int x = sink | 1;

		for (int i = 0; i < n; i++)
			x = x * 31 + (x >>> 7);
		sink = x | 1;
	}
}
