import java.util.*;
import java.util.function.Consumer;

/*
 * Objects that stay, and others that do not, in known numbers. Options: -Dseconds=, -Dgarbage= (MB a second),
 * -Dleak= (bytes a second of each kind of leak), -Dcache= (MB that stay), -Dchurn= (MB that are replaced). At
 * the end it collects, and prints "method class objects" for what is still there, or "gone" for what is not.
 */
public class Survivors {
	static final class Node {
		final Node next;
		final long value;

		Node(Node next, long value) {
			this.next = next;
			this.value = value;
		}
	}

	static final class Listener implements Consumer<String> {
		long a, b;

		public void accept(String s) {
			a += s.length();
		}
	}

	static final class Context {
		long a, b, c;
	}

	static final class Source {
		final List<Consumer<String>> listeners = new ArrayList<>();

		void listen(Consumer<String> l) {
			listeners.add(l);
		}
	}

	static final ThreadLocal<ArrayDeque<Context>> contexts = ThreadLocal.withInitial(ArrayDeque::new);
	static final Source source = new Source();
	static byte[][] cache, churn;
	static int nrCached, nrChurned, nrListeners, nrContexts;
	static Node head;
	static long nrNodes;
	static volatile Object sink;

	static void fillCache(int n) {
		cache = new byte[n][];
		for (int i = 0; i < n; i++, nrCached++)
			cache[i] = new byte[4096 - 16];
	}

	static void replace(int n) {
		for (int i = 0; i < n; i++)
			churn[nrChurned++ % churn.length] = new byte[4096 - 16];
	}

	static void leakNodes(int n) {
		for (int i = 0; i < n; i++, nrNodes++)
			head = new Node(head, i);
	}

	static void leakListeners(int n) {
		for (int i = 0; i < n; i++, nrListeners++)
			source.listen(new Listener());
	}

	static void leakContexts(int n) {
		for (int i = 0; i < n; i++, nrContexts++)
			contexts.get().add(new Context());
	}

	static void waste(long bytes) {
		for (long i = 0; i < bytes; i += 1024)
			sink = new byte[1024 - 16];
	}

	/* In steps of 10 ms, as long as it takes. */
	static void run(long steps, long garbage, int leak, int churned) throws Exception {
		long begin = System.nanoTime();

		for (long i = 0; i < steps; i++) {
			long left = (begin + i * 10_000_000 - System.nanoTime()) / 1_000_000;

			if (left > 0)
				Thread.sleep(left);
			waste(garbage / 100);
			replace(churned);
			leakNodes(leak / 100 / 24);
			leakListeners(leak / 100 / 64);
			leakContexts(leak / 100 / 80);
		}
	}

	public static void main(String[] args) throws Exception {
		int cached = Integer.getInteger("cache", 16) << 8, kept = Integer.getInteger("churn", 4) << 8;

		waste(4_000_000);	// the rest of the first allocation buffer is not sampled
		fillCache(cached);
		churn = new byte[Math.max(kept, 1)][];
		run(Integer.getInteger("seconds", 3) * 100L, Integer.getInteger("garbage", 100) * 1000000L,
		    Integer.getInteger("leak", 300000), kept / 64);
		sink = null;
		for (int i = 0; i < 10; i++)
			System.gc();
		System.out.println("fillCache byte[] " + nrCached);
		System.out.println("replace byte[] " + Math.min(nrChurned, churn.length));
		System.out.println("leakNodes Survivors$Node " + nrNodes);
		System.out.println("leakListeners Survivors$Listener " + nrListeners);
		System.out.println("leakContexts Survivors$Context " + nrContexts);
		System.out.println("waste byte[] 0");
	}
}
