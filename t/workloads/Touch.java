// SPDX-License-Identifier: GPL-2.0-or-later
import java.nio.ByteBuffer;

/** Threads, one after the other, each of which has so many fresh pages touched. usage: Touch THREADS PAGES */
public final class Touch {
	static ByteBuffer touch(int pages) {
		return ByteBuffer.allocateDirect(pages * 4096);	// the JVM clears it
	}

	public static void main(String[] args) throws InterruptedException {
		int pages = Integer.parseInt(args[1]);

		for (int i = Integer.parseInt(args[0]); i > 0; i--) {
			Thread t = new Thread(() -> touch(pages));

			t.start();
			t.join();
		}
	}
}
