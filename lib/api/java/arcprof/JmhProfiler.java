// SPDX-License-Identifier: MIT
package arcprof;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.TextResult;

/**
 * A profiler for JMH: each fork of a benchmark is recorded by {@code arcprof record}, once its warm-up is over.
 *
 * <pre>
 * java -cp benchmarks.jar:arcprof.jar org.openjdk.jmh.Main -prof arcprof.JmhProfiler:events=cpu,lock;dir=/tmp
 * </pre>
 *
 * <p>Options, with semicolons between them: {@code events}, as for {@code arcprof record -e}; {@code dir}, where the
 * traces go (the working folder); {@code limit}, how many functions are printed (10; 0: none); {@code delay}, in
 * milliseconds, in place of the time of the warm-up; {@code arcprof}, the program to run.
 */
public final class JmhProfiler implements ExternalProfiler {
	private static final Collection<String> OPTIONS = Arrays.asList("events", "dir", "limit", "delay", "arcprof");

	private final Map<String, String> options = new HashMap<>();
	private final String arcprof;
	private final File dir;
	private final int limit;
	private final long delayMs;
	private File trace;
	private int nr;

	/** @param line the options, as JMH has them of its command line */
	public JmhProfiler(String line) throws ProfilerException {
		for (String option : line.split(";")) {
			String[] pair = option.split("=", 2);

			if (option.isEmpty())
				continue;
			if (pair.length < 2 || !OPTIONS.contains(pair[0]))
				throw new ProfilerException("arcprof: unknown option '" + option + "' (available: " + OPTIONS + ")");
			options.put(pair[0], pair[1]);
		}
		arcprof = options.getOrDefault("arcprof", "arcprof");
		dir = new File(options.getOrDefault("dir", "."));
		dir.mkdirs();	/* otherwise the first recording says why not */
		try {
			limit = Integer.parseInt(options.getOrDefault("limit", "10"));
			delayMs = Long.parseLong(options.getOrDefault("delay", "-1"));
			output("--version");
		} catch (NumberFormatException | IOException e) {
			throw new ProfilerException("arcprof: " + e.getMessage());
		}
	}

	@Override
	public String getDescription() {
		return "arcprof: a trace of each fork, and its hottest functions";
	}

	/** The time of the warm-up, and a second in which the JVM starts. */
	private long delayMs(BenchmarkParams params) {
		long warmupMs = params.getWarmup().getTime().convertTo(TimeUnit.MILLISECONDS) * params.getWarmup().getCount();

		return delayMs >= 0 ? delayMs : warmupMs + 1000;
	}

	@Override
	public Collection<String> addJVMInvokeOptions(BenchmarkParams params) {
		String name = params.id().replaceAll("[^A-Za-z0-9_.-]+", "_");
		List<String> command = new ArrayList<>();

		do
			trace = new File(dir, name + "-" + ++nr + ".data");
		while (trace.exists());
		command.addAll(Arrays.asList(arcprof, "record", "-q", "-D", delayMs(params) + "ms", "-o", trace.getPath()));
		if (options.containsKey("events"))
			command.addAll(Arrays.asList("-e", options.get("events")));
		command.add("--");
		return command;
	}

	@Override
	public Collection<String> addJVMOptions(BenchmarkParams params) {
		return Collections.emptyList();
	}

	@Override
	public void beforeTrial(BenchmarkParams params) {
	}

	@Override
	public Collection<? extends Result> afterTrial(BenchmarkResult result, long pid, File out, File err) {
		StringBuilder text = new StringBuilder("arcprof: " + trace + "\n");

		try {
			if (limit > 0)
				text.append(output("report", "-q", "--xprof", "--sort", "base", "--limit",
					   Integer.toString(limit), trace.getPath()));
		} catch (IOException e) {
			text.append(e.getMessage()).append('\n');
		}
		return Collections.singleton(new TextResult(text.toString(), "arcprof"));
	}

	@Override
	public boolean allowPrintOut() {
		return true;
	}

	@Override
	public boolean allowPrintErr() {
		return true;
	}

	private String output(String... arguments) throws IOException {
		List<String> command = new ArrayList<>(Collections.singleton(arcprof));
		Program p;

		command.addAll(Arrays.asList(arguments));
		p = Program.run(command.toArray(new String[0]));
		if (p.status != 0)
			throw new IOException(p.text.trim());
		return p.text;
	}
}
