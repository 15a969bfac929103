import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Native memory: direct buffers of known sizes, made by two threads, and blocks of JNI code. */
public class NativeBlocks {
	static final List<ByteBuffer> kept = new ArrayList<>();

	static native void jniBlocks(int n);

	static void direct(int n) {
		for (int i = 0; i < n; i++)
			kept.add(ByteBuffer.allocateDirect(100000));
	}

	static void inThread(int n) {
		for (int i = 0; i < n; i++)
			kept.add(ByteBuffer.allocateDirect(3000));
	}

	/** With a third argument it has blocks already, and waits for input before it makes those it tells of. */
	public static void main(String[] args) throws Exception {
		int n = Integer.parseInt(args[0]);
		Thread t = new Thread(() -> inThread(n * 10));

		if (args.length > 2) {
			direct(n);
			System.out.println("ready");
			System.in.read();
		}
		System.load(args[1]);
		direct(n);
		t.start();
		t.join();
		jniBlocks(n * 10);
		System.out.println("NativeBlocks.direct 100000 " + n + " " + n);
		System.out.println("NativeBlocks.inThread 3000 " + n * 10 + " " + n * 10);
		System.out.println("Java_NativeBlocks_jniBlocks 2000 " + n * 10 + " " + n * 5);
		while (args.length > 2 && System.in.read() >= 0)
			;
	}
}
