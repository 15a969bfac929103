import java.util.concurrent.SynchronousQueue;

/** Four pairs of virtual threads (JDK 21 and later) that do nothing but let each other go on. PingPong TURNS. */
public class PingPong {
	interface Turn {
		void take(int k) throws InterruptedException;
	}

	static Thread turns(int turns, Turn turn) {
		return Thread.ofVirtual().start(() -> {
			try {
				for (int k = 0; k < turns; k++)
					turn.take(k);
			} catch (InterruptedException e) {
			}
		});
	}

	public static void main(String[] a) throws Exception {
		int nr = Integer.parseInt(a[0]);
		Thread[] t = new Thread[8];
		for (int i = 0; i < t.length; i += 2) {
			SynchronousQueue<Integer> q = new SynchronousQueue<>();
			t[i] = turns(nr, q::put);
			t[i + 1] = turns(nr, k -> q.take());
		}
		for (Thread x : t)
			x.join();
	}
}
