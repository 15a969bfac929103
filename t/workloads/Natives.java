/*
 * Java methods that call functions of a library (t/data/callflow/natives.c), which call methods back. The number of
 * calls in each context is known: see the test.
 *
 *	Natives <library> [<rounds>]
 */
public class Natives {
	static native void work(int n);
	static native void jump();
	static native void catches();
	static native void thread();

	static void once(int n) {
		work(n);
	}

	/* called by work() and by a thread of the library's own */
	static void back(int n) {
		if (n > 0)
			work(n - 1);
	}

	static void jumps() {
		jump();
		work(0);
	}

	static void thrower(int n) {
		if (n > 0)
			thrower(n - 1);
		throw new IllegalStateException();
	}

	public static void main(String[] args) throws InterruptedException {
		int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 100;

		System.load(args[0]);
		for (int i = 0; i < rounds; i++) {
			once(2);
			jumps();
			catches();
		}
		thread();
		Thread t = new Thread(() -> once(1), "second");
		t.start();
		t.join();
		System.out.println("done");
	}
}
