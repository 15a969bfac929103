// SPDX-License-Identifier: GPL-2.0-or-later

/**
 * Calls inside calls, of static methods and of methods of an object, for how many instructions there are from one
 * entry or exit to the next. Options of the JVM say how the code runs. traced() calls each forty times, when
 * all is compiled.
 */
public final class Transitions {
	static int count;
	static final Transitions object = new Transitions();

	static void empty() { count++; }

	static void outer() {
		empty();
		count--;
	}

	static void loop(int calls) {
		for (int i = 0; i < calls; i++)
			outer();
	}

	void ownEmpty() { count++; }

	void ownOuter() {
		ownEmpty();
		count--;
	}

	void ownLoop(int calls) {
		for (int i = 0; i < calls; i++)
			ownOuter();
	}

	static void traced() {
		loop(40);
		object.ownLoop(40);
	}

	public static void main(String[] args) {
		for (int i = 0; i < 3000; i++) {
			loop(20);
			object.ownLoop(20);
		}
		traced();
	}
}
