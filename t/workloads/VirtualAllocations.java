/*
 * As Allocations, with all of it on virtual threads (Thread.ofVirtual), one after the other: one for each call.
 */
public class VirtualAllocations {
	public static void main(String[] args) throws InterruptedException {
		long megabytes = Integer.parseInt(args[0]);

		Allocations.prepare(args);
		for (int i = 0; i < Allocations.ROUNDS; i++)
			for (var e : Allocations.MAKERS.entrySet()) {
				int n = Allocations.number(e.getKey(), megabytes);
				Thread t = Thread.ofVirtual().name("virtual " + e.getKey()).start(() -> {
					try {
						e.getValue().make(n);
					} catch (Exception x) {
						throw new IllegalStateException(x);
					}
				});
				t.join();
			}
		Allocations.print(megabytes);
	}
}
