// SPDX-License-Identifier: GPL-2.0-or-later
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.util.function.IntBinaryOperator;

/**
 * Defines hidden classes of its own and calls them; prints the calls there must be, as Calls does. With an argument the
 * first ones are there before "ready" is printed, and others are made when a line has been read.
 */
public class Hidden {
	static final int CLASSES = 3, CALLS = 50;

	public static class Adder implements IntBinaryOperator {
		@Override
		public int applyAsInt(int a, int b) {
			return add(a, b);
		}

		static int add(int a, int b) {
			return a + b;
		}
	}

	static IntBinaryOperator define(byte[] bytes) throws Exception {
		Class<?> c = MethodHandles.lookup().defineHiddenClass(bytes, true).lookupClass();
		return (IntBinaryOperator) c.getDeclaredConstructor().newInstance();
	}

	static int use(byte[] bytes) throws Exception {
		int sum = 0;
		for (int i = 0; i < CLASSES; i++) {
			IntBinaryOperator o = define(bytes);
			for (int k = 0; k < CALLS; k++)
				sum = o.applyAsInt(sum, k);
		}
		return sum;
	}

	public static void main(String[] args) throws Exception {
		byte[] bytes;
		try (InputStream in = Hidden.class.getResourceAsStream("Hidden$Adder.class")) {
			bytes = in.readAllBytes();
		}
		if (args.length > 0) {
			use(bytes);
			System.out.println("ready");
			System.in.read();
		}
		int sum = use(bytes);
		if (sum != CLASSES * CALLS * (CALLS - 1) / 2)
			throw new AssertionError(sum);
		System.out.println("total Hidden$Adder.<init> " + CLASSES);
		System.out.println("total Hidden$Adder.applyAsInt " + CLASSES * CALLS);
		System.out.println("total Hidden$Adder.add " + CLASSES * CALLS);
		System.out.println("total Hidden.define " + CLASSES);
	}
}
