// SPDX-License-Identifier: GPL-2.0-or-later
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Memory of known sizes, resident: 40 MiB of heap, 20 MiB of direct buffers. Ends with its input. */
public class Resident {
	static final List<Object> kept = new ArrayList<>();

	public static void main(String[] args) throws Exception {
		for (int i = 0; i < 40; i++)
			kept.add(new byte[1 << 20]);
		for (int i = 0; i < 20; i++) {
			ByteBuffer b = ByteBuffer.allocateDirect(1 << 20);
			for (int at = 0; at < b.capacity(); at += 4096)
				b.put(at, (byte) 1);
			kept.add(b);
		}
		for (int i = 0; i < 10; i++) {
			Thread t = new Thread(() -> {
				try {
					Thread.sleep(1 << 30);
				} catch (InterruptedException e) {
					return;
				}
			}, "sleeper-" + i);
			t.setDaemon(true);
			t.start();
		}
		System.out.println("ready");
		while (System.in.read() >= 0)
			;
	}
}
