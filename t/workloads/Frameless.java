// SPDX-License-Identifier: GPL-2.0-or-later
import java.lang.ref.WeakReference;

/** A second of calls of Reference.get(), whose entry in the interpreter builds no frame. */
public final class Frameless {
	static final WeakReference<Object> reference = new WeakReference<>(new Object());

	static Object gets() {
		return reference.get();
	}

	static void calls() {
		for (int i = 0; i < 1000; i++)
			gets();
	}

	public static void main(String[] args) {
		long end = System.nanoTime() + 1_000_000_000;

		while (System.nanoTime() < end)
			calls();
	}
}
