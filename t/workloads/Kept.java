// Keeps 2000 arrays, of each of which a test knows; argument: how it ends (return, exit, wait; drop:
// it returns, and keeps nothing any more after 100 ms; churn: it returns, having wasted for two seconds first).
// With -Dasked it begins when it is told to, on its input.
import java.util.ArrayList;
import java.util.List;

public class Kept {
	static final int N = 2000;
	static final List<byte[]> kept = new ArrayList<>(N);
	static byte[] last;

	static void keep() {
		for (int i = 0; i < N; i++)
			kept.add(new byte[1000]);
	}

	static void waste() {
		for (int i = 0; i < N; i++)
			last = new byte[1000];
		last = null;
	}

	public static void main(String[] args) throws Exception {
		if (System.getProperty("asked") != null) {
			System.out.println("ready");
			System.in.read();
		}
		long until = System.nanoTime() + 2_000_000_000L;
		do
			waste();
		while (args[0].equals("churn") && System.nanoTime() < until);
		keep();
		System.out.println("kept " + N);
		if (args[0].equals("drop")) {
			Thread.sleep(100);
			kept.clear();
		}
		if (args[0].equals("exit"))
			System.exit(0);
		if (args[0].equals("wait"))
			Thread.sleep(60000);
	}
}
