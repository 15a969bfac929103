// SPDX-License-Identifier: GPL-2.0-or-later
package java.lang;

import java.io.FileWriter;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.HashMap;

/**
 * Counts what the probes say, and holds it against a stack of its own for each thread, as a call tree
 * would be kept: an event of a frame ends what is above it.  At the end it writes "number entered
 * returned thrown unseen" of each method into the file named by -Darcprobe, "arc number number times" of
 * each caller and callee, and how often an event did not fit.
 */
public final class ArcProbe {
	private static final int METHODS = 200000;
	private static final int[] entered = new int[METHODS], returned = new int[METHODS], thrown = new int[METHODS],
		unseen = new int[METHODS];
	private static final HashMap<Long, int[]> arcs = new HashMap<>();
	private static int misfits, open;

	private static final class Stack {
		int[] number = new int[64];
		int depth;
	}

	private static final ThreadLocal<Stack> stack = ThreadLocal.withInitial(Stack::new);

	static {
		String path = System.getProperty("arcprobe");
		if (path != null)
			Runtime.getRuntime().addShutdownHook(new Thread(() -> write(path)));
	}

	public static synchronized void enter(int number) {
		Stack s = stack.get();
		if (s.depth == s.number.length)
			s.number = Arrays.copyOf(s.number, 2 * s.depth);
		if (s.depth > 0)
			arcs.computeIfAbsent((long) s.number[s.depth - 1] << 32 | number, k -> new int[1])[0]++;
		s.number[s.depth++] = number;
		entered[number]++;
		open++;
	}

	/** Ends what is above the innermost frame of this method: constructors whose super() threw. */
	private static boolean find(Stack s, int number) {
		int at = s.depth;
		while (at > 0 && s.number[at - 1] != number)
			at--;
		if (at == 0) {
			misfits++;
			return false;
		}
		for (; s.depth > at; open--)
			unseen[s.number[--s.depth]]++;
		return true;
	}

	private static void leave(int number, int[] how) {
		Stack s = stack.get();
		if (find(s, number)) {
			s.depth--;
			open--;
			how[number]++;
		}
	}

	public static synchronized void exit(int number) {
		leave(number, returned);
	}

	public static synchronized void thrown(int number) {
		leave(number, thrown);
	}

	public static synchronized void caught(int number) {
		find(stack.get(), number);
	}

	public static void count(int instructions) {
		if (instructions <= 0)
			misfit();
	}

	public static void line(int line) {
		if ((line & 0xffff) != new Throwable().getStackTrace()[1].getLineNumber())
			misfit();
	}

	public static void bci(int bci) {
		misfit();	/* all that is counted has lines */
	}

	private static synchronized void misfit() {
		misfits++;
	}

	private static synchronized void write(String path) {
		try (PrintWriter out = new PrintWriter(new FileWriter(path))) {
			for (int i = 0; i < METHODS; i++)
				if (entered[i] + returned[i] + thrown[i] + unseen[i] > 0)
					out.println(i + " " + entered[i] + " " + returned[i] + " " + thrown[i] + " " + unseen[i]);
			arcs.forEach((k, n) -> out.println("arc " + (k >> 32) + " " + (int) (long) k + " " + n[0]));
			out.println("misfits " + misfits + " open " + open);
		} catch (java.io.IOException e) {
			e.printStackTrace();
		}
	}
}
