// SPDX-License-Identifier: MIT
package arcprof;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * An extension of JUnit 5 that records the tests of a class and holds a budget: the class fails if a limit is
 * violated. arcprof-budget(1) says what limits are.
 *
 * <pre>{@code
 * class ShopTest {
 *         @RegisterExtension
 *         static final JUnitBudget BUDGET = new JUnitBudget("shop.limits", "--callflow=Shop.*", "--metric=cpu,alloc");
 * }
 * }</pre>
 *
 * <p>The recorder is {@code arcprof}, or what the system property {@code arcprof} names; it attaches to the JVM of the
 * tests. The trace is {@code arcprof-CLASS.data} in the working folder, CLASS being the test's.
 */
public final class JUnitBudget implements BeforeAllCallback, AfterAllCallback {
	private final String arcprof = System.getProperty("arcprof", "arcprof");
	private final String limits;
	private final List<String> options;
	private final StringBuffer said = new StringBuffer();
	private Process recorder;
	private Thread listener;
	private String trace;

	/**
	 * @param limits the file of limits
	 * @param options further ones of {@code arcprof record}: what is recorded
	 */
	public JUnitBudget(String limits, String... options) {
		this.limits = limits;
		this.options = Arrays.asList(options);
	}

	/** Begins to record; returns once everything is recorded. */
	@Override
	public void beforeAll(ExtensionContext context) throws IOException {
		List<String> command = new ArrayList<>(Arrays.asList(arcprof, "record", "-p", pid()));
		BufferedReader r;
		String line;

		trace = "arcprof-" + context.getRequiredTestClass().getName() + ".data";
		command.addAll(Arrays.asList("-o", trace));
		command.addAll(options);
		recorder = new ProcessBuilder(command).redirectErrorStream(true).start();
		r = Program.reader(recorder);
		do {
			line = r.readLine();
			if (line == null)
				throw new IOException("arcprof does not record: " + said + "status " + Program.await(recorder));
			said.append(line).append('\n');
		} while (!line.startsWith("arcprof record: recording "));
		listener = new Thread(() -> listen(r), "arcprof-listener");
		listener.setDaemon(true);
		listener.start();
	}

	/** Ends the recording and judges it. */
	@Override
	public void afterAll(ExtensionContext context) throws IOException {
		Program budget;

		recorder.destroy();	/* SIGTERM: it writes the rest */
		if (Program.await(recorder) != 0)
			throw new IOException("arcprof record failed:\n" + said);
		budget = Program.run(arcprof, "budget", "-f", limits, trace);
		if (budget.status == 1)
			throw new AssertionError("over budget (" + trace + "):\n" + budget.text);
		if (budget.status != 0)
			throw new IOException(budget.text);
	}

	private void listen(BufferedReader r) {
		String line;

		try {
			while ((line = r.readLine()) != null)
				said.append(line).append('\n');
		} catch (IOException e) {
			/* it has ended */
		}
	}

	private static String pid() {
		return ManagementFactory.getRuntimeMXBean().getName().split("@")[0];
	}
}
