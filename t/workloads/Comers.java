import java.io.*;
import java.lang.invoke.MethodHandles;

/** Virtual threads that come and go, each with a name, and define a class each. Comers SECONDS: prints when it is over. */
public class Comers {
	static class Guest {
	}

	public static void main(String[] args) throws Exception {
		byte[] bytes;
		try (InputStream in = Comers.class.getResourceAsStream("Comers$Guest.class")) {
			bytes = in.readAllBytes();
		}
		MethodHandles.Lookup lookup = MethodHandles.lookup();
		long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
		for (int i = 0; System.nanoTime() < end; i++) {
			Thread.ofVirtual().name("guest-" + i).start(() -> {
				try {
					lookup.defineHiddenClass(bytes, false);
				} catch (Exception e) {
					throw new Error(e);
				}
			});
			Thread.sleep(5);
		}
		System.out.println("over");
	}
}
