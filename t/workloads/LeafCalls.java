// SPDX-License-Identifier: GPL-2.0-or-later
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.zip.CRC32;

/**
 * LeafCalls WHAT MS: calls of native code, or of code that HotSpot wrote, which leave no word of where the thread is in
 * Java. Threads called "leaves" do so for that much CPU time each, by during() and a method of that name.
 */
public final class LeafCalls {
	static final int N = 1 << 12;
	static final Object lock = new Object();
	static final int[] ints = new int[N], sorted = new int[N];
	static final byte[] bytes = new byte[1 << 16];
	static long sum;
	static double number;

	/* Handed over each time, and so unlocked by the VM. */
	static void unlock() {
		for (int i = 0; i < 100; i++)
			synchronized (lock) {
				sum++;
				Thread.yield();
			}
	}

	/* From JDK 22 on libsimdsort does this, if the CPU has AVX2; all its frames are larger than what they use. */
	static void sort() {
		for (int i = 0; i < 10; i++) {
			System.arraycopy(ints, 0, sorted, 0, N);
			Arrays.sort(sorted);
		}
	}

	/* fmod(), to which a function of libjvm jumps from JDK 21 on */
	static void remainder() {
		for (int i = 1; i < 1000; i++)
			number += i * 1e9 % (i * 0.37 + 1);
	}

	/* a stub with room for much on the stack, where calls before have left their words */
	static void check() {
		CRC32 crc = new CRC32();

		for (int i = 0; i < 10; i++)
			crc.update(bytes);
		sum += crc.getValue();
	}

	static void call(String what) {
		switch (what) {
		case "unlock":
			unlock();
			break;
		case "sort":
			sort();
			break;
		case "remainder":
			remainder();
			break;
		case "check":
			check();
			break;
		}
	}

	static void during(String what, long ms) {
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();

		while (threads.getCurrentThreadCpuTime() < ms * 1_000_000)
			call(what);
	}

	public static void main(String[] args) throws InterruptedException {
		Thread[] threads = new Thread[args[0].equals("unlock") ? 4 : 1];

		for (int i = 0; i < N; i++)
			ints[i] = i * 0x9e3779b9;
		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(() -> during(args[0], Long.parseLong(args[1])), "leaves");
			threads[i].start();
		}
		for (Thread t : threads)
			t.join();
	}
}
