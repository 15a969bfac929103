import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A server that takes orders, with clients of its own, so that it can be tried without any: its threads
 * orders-1 to orders-3 work for as many seconds as the first argument says. The second is its version.
 * Documentation/howto/five-questions-to-a-server.adoc asks what is wrong with it.
 */
public class Orders {
	static final Map<Integer, Integer> STOCK = new HashMap<>();
	static final List<Receipt> RECEIPTS = new ArrayList<>();

	static int version;

	/** Most of the work of an order. */
	static long price(String order) {
		long sum = 0;

		for (int i = 0; i < 1000000; i++)
			sum = 31 * sum + order.charAt(i % order.length());
		return sum;
	}

	/** What version 2 has, and version 1 did without. */
	static long discount(String order) {
		long sum = 0;

		for (int i = 0; i < 1000000; i++)
			sum = 17 * sum ^ order.charAt(i % order.length());
		return sum;
	}

	/** One after the other, and each waits for a slow disk meanwhile. */
	static void reserve(int item) throws InterruptedException {
		synchronized (STOCK) {
			STOCK.merge(item, 1, Integer::sum);
			Thread.sleep(1);
		}
	}

	/** What is kept of an order. */
	static class Receipt {
		final byte[] page = new byte[16384];

		Receipt(String order, long price) {
			byte[] text = (order + " costs " + price).getBytes();

			System.arraycopy(text, 0, page, 0, text.length);
		}
	}

	/** Nothing is ever forgotten. */
	static void remember(String order, long price) {
		synchronized (RECEIPTS) {
			RECEIPTS.add(new Receipt(order, price));
		}
	}

	static void serve(int nr) throws InterruptedException {
		String order = "order " + nr + " of " + nr % 7 + " things";
		long price = price(order);

		if (version > 1)
			price -= discount(order);
		reserve(nr % 7);
		remember(order, price);
	}

	static void work(long untilNs) {
		try {
			for (int nr = 0; System.nanoTime() < untilNs; nr++)
				serve(nr);
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
	}

	public static void main(String[] args) throws InterruptedException {
		long untilNs = System.nanoTime() + (long)(Double.parseDouble(args[0]) * 1e9);
		List<Thread> threads = new ArrayList<>();

		version = args.length > 1 ? Integer.parseInt(args[1]) : 1;
		for (int i = 1; i <= 3; i++)
			threads.add(new Thread(() -> work(untilNs), "orders-" + i));
		for (Thread t : threads)
			t.start();
		for (Thread t : threads)
			t.join();
		System.out.println(RECEIPTS.size() + " orders");
	}
}
