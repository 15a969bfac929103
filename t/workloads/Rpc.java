// SPDX-License-Identifier: GPL-2.0-or-later
import arcprof.Label;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Paths;

/*
 * Requests over loopback, each a line with its trace id. "Rpc serve FILE": writes its port to the file, answers the
 * requests of one connection, 20 ms of CPU each with the trace id as a label, then works 30 ms for nobody. "Rpc call PORT
 * N": N requests, each with its label, of 10 ms of CPU before it is sent; 5 ms between two.
 */
public class Rpc {
	static volatile long sink;

	static void burn(long ms) {
		long end = threadTime() + ms * 1_000_000, x = sink;

		while (threadTime() < end)
			for (int i = 0; i < 20_000; i++)
				x = x * 6364136223846793005L + 1442695040888963407L;
		sink = x;
	}

	static long threadTime() {
		return java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
	}

	static String readLine(InputStream in) throws Exception {
		StringBuilder b = new StringBuilder();
		int c;

		while ((c = in.read()) >= 0 && c != '\n')
			b.append((char)c);
		return c < 0 ? null : b.toString();
	}

	static void serve(String id) {
		try (Label l = Label.set("trace-id", id)) {
			burn(20);
		}
	}

	static void serveAll(String file) throws Exception {
		try (ServerSocket s = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			Files.write(Paths.get(file + ".new"), String.valueOf(s.getLocalPort()).getBytes());
			Files.move(Paths.get(file + ".new"), Paths.get(file));
			try (Socket c = s.accept()) {
				for (String id; (id = readLine(c.getInputStream())) != null;) {
					serve(id);
					c.getOutputStream().write('\n');
				}
			}
		}
		burn(30);
	}

	static void call(Socket s, String id) throws Exception {
		try (Label l = Label.set("trace-id", id)) {
			burn(10);
			s.getOutputStream().write((id + "\n").getBytes());
			readLine(s.getInputStream());
		}
	}

	public static void main(String[] args) throws Exception {
		burn(100);	/* compiled */
		if (args[0].equals("serve")) {
			serveAll(args[1]);
			return;
		}
		try (Socket s = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(args[1]))) {
			for (int i = 0; i < Integer.parseInt(args[2]); i++) {
				call(s, "request-" + i);
				burn(5);
			}
		}
	}
}
