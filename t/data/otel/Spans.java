// SPDX-License-Identifier: MIT
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;

/* Spans on two threads, one within the other: 40 ms of CPU in each outer one, 80 in the inner one, and 20 without. */
public class Spans {
	static volatile long sink;

	static void burn(long ms) {
		java.lang.management.ThreadMXBean t = java.lang.management.ManagementFactory.getThreadMXBean();
		long end = t.getCurrentThreadCpuTime() + ms * 1_000_000, x = sink;

		while (t.getCurrentThreadCpuTime() < end)
			for (int i = 0; i < 20_000; i++)
				x = x * 6364136223846793005L + 1442695040888963407L;
		sink = x;
	}

	static void outer(String id) {
		burn(20);
		try (Scope s = Span.of(id).makeCurrent()) {
			burn(20);
			try (Scope inner = Span.of("inner").makeCurrent()) {
				burn(40);
			}
			try (Scope none = Context.root().makeCurrent()) {
				burn(10);
			}
			burn(20);
		}
	}

	public static void main(String[] args) throws Exception {
		Thread[] t = new Thread[2];

		ContextStorage.addWrapper(ArcprofContextStorage::new);
		for (int i = 0; i < t.length; i++) {
			String id = "trace-" + i;

			t[i] = new Thread(() -> outer(id));
			t[i].start();
		}
		for (Thread x : t)
			x.join();
		System.out.println("done");
	}
}
