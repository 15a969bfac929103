// SPDX-License-Identifier: GPL-2.0-or-later
import java.util.*;

/*
 * Objects that hold others, allocated at places of their own, in known numbers: each order has an array with
 * lines, which all refer to one product; a map has a text for each order. Says "planted" when all is there,
 * and waits for the end of its input. -Dorders=N: so many.
 */
public class Held {
	static final int ORDERS = Integer.getInteger("orders", 1000), LINES = 5;

	static class Product {
		final byte[] picture = new byte[100000];
	}

	static class Line {
		Product product;
	}

	static class Order {
		Line[] lines;
	}

	static Order[] orders;
	static Map<Integer, StringBuilder> texts;

	static Product makeProduct() {
		return new Product();
	}

	static Line[] makeLines(Product product) {
		Line[] lines = new Line[LINES];
		for (int i = 0; i < LINES; i++) {
			lines[i] = new Line();
			lines[i].product = product;
		}
		return lines;
	}

	static void makeOrders() {
		Product product = makeProduct();
		orders = new Order[ORDERS];
		for (int i = 0; i < ORDERS; i++) {
			orders[i] = new Order();
			orders[i].lines = makeLines(product);
		}
	}

	static StringBuilder makeText() {
		return new StringBuilder(100);
	}

	static void makeMap() {
		texts = new HashMap<>();
		for (int i = 0; i < ORDERS; i++)
			texts.put(i + 1000000, makeText());
	}

	static byte[] wasted;

	/* A JVM that samples since its start begins to after half a megabyte of each thread. */
	static void waste() {
		for (int i = 0; i < 4000; i++)
			wasted = new byte[1000];
		wasted = null;
	}

	public static void main(String[] args) throws Exception {
		waste();
		makeOrders();
		makeMap();
		System.out.println("planted");
		while (System.in.read() >= 0)
			;
	}
}
