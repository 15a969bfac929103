import arcprof.Event;
import arcprof.Mark;

/*
 * Marks and phases: "Marks N" sets N marks in main, and N with values in another thread; and events with
 * named values. "Marks emit N": the least time of an event in ns, of rounds of N;
 * "Marks cost N": of a mark.
 */
public class Marks {
	static final Mark STEP = new Mark("étape"), ALL = new Mark("all");
	static final Event REQUEST = new Event("request", "path", "status", "seconds");

	static void step() {
		STEP.set();
	}

	static void emit(String path, long status, double seconds) {
		REQUEST.now().put(path).put(status).put(seconds).emit();
	}

	static void emitSome(long begun) {
		String many = String.join("", java.util.Collections.nCopies(1022, "x")) + "é";

		emit("/cart", 200, 0.25);
		emit("/a \"b\"\n,c", Long.MIN_VALUE, -1e300);
		emit(null, Long.MAX_VALUE, Double.NaN);
		REQUEST.now().put(many).emit();
		REQUEST.since(begun).put("").put(0).put(0.1).put(9).emit();
		REQUEST.since(0).put("never").emit();
		/* characters of two, three and four bytes, and half of one */
		REQUEST.now().put("é€\ud83d\ude00\ud83d").emit();
		try {
			new Event("twice", "a", "b", "a");
			System.out.println("defined what is no event");
		} catch (IllegalArgumentException e) {
		}
	}

	static void cost(int n, boolean emits) throws Exception {
		long best = Long.MAX_VALUE;

		for (int round = 0; round < 100; round++) {
			long begun = System.nanoTime();
			for (int i = 0; i < n; i++)
				if (emits)
					emit("/cart", i, 0.25);
				else
					step();
			best = Math.min(best, System.nanoTime() - begun);
			Thread.sleep(10);
		}
		System.out.printf("%.1f%n", (double)best / n);
	}

	public static void main(String[] args) throws Exception {
		if (args.length > 1) {
			cost(Integer.parseInt(args[1]), args[0].equals("emit"));
			return;
		}
		int n = Integer.parseInt(args[0]);
		long begun = Mark.begin();

		for (int i = 0; i < n; i++)
			step();
		Thread t = new Thread(() -> {
			for (int i = 0; i < n; i++)
				STEP.set(i);
		}, "other");
		t.start();
		t.join();
		emitSome(begun);
		ALL.end(begun);
		System.out.println("marked");
	}
}
