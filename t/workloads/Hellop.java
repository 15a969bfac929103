// SPDX-License-Identifier: GPL-2.0-or-later

/** The first acceptance program of tree profilers: main calls myA a thousand times, which calls myC. */
public final class Hellop {
	static int n;

	static void myC() { n++; }

	static void myA() { myC(); }

	public static void main(String[] args) {
		for (int i = 0; i < 1000; i++) {
			myA();
			System.out.println("hello " + n);
		}
	}
}
