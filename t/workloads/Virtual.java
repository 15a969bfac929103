import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads (JDK 21 and later; compile with it) that work at the bottom of a deep
 * stack and sleep there, so that most of it is frozen in the heap when they go on.
 */
public class Virtual {
	static int work(int n) {
		int h = n;
		for (int i = 0; i < 400_000; i++)
			h = h * 31 + (h >>> 5) + i;
		return h;
	}

	static int deep(int d, int n) {
		if (d > 0)
			return deep(d - 1, n) + 1;
		int h = 0;
		for (int i = 0; i < n; i++) {
			h += work(i);
			LockSupport.parkNanos(100_000);
		}
		return h;
	}

	static void root(int n) { if (deep(60, n) == 1) System.out.println("one"); }

	public static void main(String[] a) throws Exception {
		int n = a.length > 0 ? Integer.parseInt(a[0]) : 200;
		Thread[] t = new Thread[20];
		for (int i = 0; i < t.length; i++)
			t[i] = Thread.ofVirtual().name("virtual-" + i).start(() -> root(n));
		for (Thread x : t)
			x.join();
		System.out.println("done");
	}
}
