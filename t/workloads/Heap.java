// SPDX-License-Identifier: GPL-2.0-or-later
import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.*;
import java.util.*;
import javax.management.*;

/**
 * Heap FILE: a heap with planted objects; dumps it to FILE.hprof, its histogram to FILE.histogram.
 * Heap FILE wait: says that it is ready, and waits. -Dnodes=N: that many objects in a list.
 */
public class Heap {
	static final int ORDERS = 1000, LINES = 5, NODES = Integer.getInteger("nodes", 100000);

	static class Product {
		final byte[] picture = new byte[1 << 20];
	}

	static class Line {
		final Product product;

		Line(Product product) {
			this.product = product;
		}
	}

	static class Order {
		final Line[] lines = new Line[LINES];
	}

	static class Node {
		Node next;
		final long[] load = new long[10];
	}

	/* Holds orders, which share a product; and a list. */
	static class Shop {
		final List<Order> orders = new ArrayList<>();
		Node list;
	}

	static Shop shop = new Shop();

	/* What could be less: equal texts and numbers, and arrays with little in them. */
	static final String[] texts = new String[50];
	static final Object[] sparse = new Object[1000];
	static final Long[] numbers = new Long[30];
	static final Product[][] none = new Product[20][];
	static Object loaded;

	static void waste() {
		for (int i = 0; i < texts.length; i++)
			texts[i] = new String("planted text".toCharArray());
		for (int i = 0; i < 3; i++)
			sparse[i * 100] = texts[i];
		for (int i = 0; i < numbers.length; i++)
			numbers[i] = new Long(123456789L);
		for (int i = 0; i < none.length; i++)
			none[i] = new Product[0];
	}

	public static class Loaded {
	}

	/* A loader with a name, which does not ask its parent for one class. */
	static void load() throws Exception {
		byte[] code;
		try (java.io.InputStream in = Heap.class.getResourceAsStream("Heap$Loaded.class")) {
			code = in.readAllBytes();
		}
		ClassLoader loader = new ClassLoader("planted", Heap.class.getClassLoader()) {
			@Override
			protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
				return name.equals("Heap$Loaded") ? defineClass(name, code, 0, code.length) :
					super.loadClass(name, resolve);
			}
		};
		loaded = loader.loadClass("Heap$Loaded").getDeclaredConstructor().newInstance();
	}

	static void plant() {
		Product product = new Product();
		for (int i = 0; i < ORDERS; i++) {
			Order order = new Order();
			for (int k = 0; k < LINES; k++)
				order.lines[k] = new Line(product);
			shop.orders.add(order);
		}
		for (int i = 0; i < NODES; i++) {
			Node node = new Node();
			node.next = shop.list;
			shop.list = node;
		}
	}

	static final ThreadLocal<char[]> local = new ThreadLocal<>();

	/* A local variable of a thread that waits is what holds its array; its thread local holds another. */
	static void holdInThread() {
		Thread holder = new Thread(() -> {
			double[] held = new double[50000];
			local.set(new char[30000]);
			synchronized (held) {
				try {
					held.wait();
				} catch (InterruptedException e) {
					held[0] = 1;
				}
			}
		}, "holder");
		holder.setDaemon(true);
		holder.start();
		while (holder.getState() != Thread.State.WAITING)
			Thread.onSpinWait();
	}

	static String histogram() throws Exception {
		return (String) ManagementFactory.getPlatformMBeanServer().invoke(
			new ObjectName("com.sun.management:type=DiagnosticCommand"), "gcClassHistogram",
			new Object[] { null }, new String[] { String[].class.getName() });
	}

	public static void main(String[] args) throws Exception {
		plant();
		waste();
		load();
		holdInThread();
		if (args.length > 1) {
			System.out.println("ready");
			Thread.sleep(60000);
		}
		histogram();
		Files.deleteIfExists(Path.of(args[0] + ".hprof"));
		Files.writeString(Path.of(args[0] + ".histogram"), histogram());
		ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
			.dumpHeap(args[0] + ".hprof", true);
	}
}
