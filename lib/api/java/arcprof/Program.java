// SPDX-License-Identifier: MIT
package arcprof;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** Runs arcprof itself. */
final class Program {
	final int status;
	final String text;

	private Program(int status, String text) {
		this.status = status;
		this.text = text;
	}

	/** Waits for the end of a program; text is what it has printed, errors included. */
	static Program run(String... command) throws IOException {
		Process p = new ProcessBuilder(command).redirectErrorStream(true).start();
		StringBuilder text = new StringBuilder();
		String line;

		p.getOutputStream().close();
		try (BufferedReader r = reader(p)) {
			while ((line = r.readLine()) != null)
				text.append(line).append('\n');
		}
		return new Program(await(p), text.toString());
	}

	static BufferedReader reader(Process p) {
		return new BufferedReader(new InputStreamReader(p.getInputStream(), StandardCharsets.UTF_8));
	}

	/** The exit status. */
	static int await(Process p) throws IOException {
		try {
			return p.waitFor();
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
			throw new IOException("interrupted", e);
		}
	}
}
