import java.io.File;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;

import arcprof.JmhProfiler;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.TextResult;
import org.openjdk.jmh.runner.options.TimeValue;

/** What JMH does with a profiler: it starts a fork, here the command after the first argument, and prints the result. */
public class Forks {
	static final class Time extends TimeValue {
		@Override
		public long convertTo(TimeUnit unit) {
			return unit.convert(20, TimeUnit.MILLISECONDS);
		}
	}

	static final class Warmup extends IterationParams {
		@Override
		public int getCount() {
			return 2;
		}

		@Override
		public TimeValue getTime() {
			return new Time();
		}
	}

	static final class Params extends BenchmarkParams {
		@Override
		public String id() {
			return "b.Orders.price, n = 30";
		}

		@Override
		public IterationParams getWarmup() {
			return new Warmup();
		}
	}

	public static void main(String[] args) throws Exception {
		ExternalProfiler p = new JmhProfiler(args[0]);
		List<String> command = new ArrayList<>(p.addJVMInvokeOptions(new Params()));

		Collections.addAll(command, args);
		command.remove(args[0]);
		System.out.println(String.join(" ", command));
		p.beforeTrial(new Params());
		if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0)
			throw new IllegalStateException("the fork failed");
		for (Result<?> r : p.afterTrial(null, 0, new File("/dev/null"), new File("/dev/null")))
			System.out.print(((TextResult)r).extendedInfo());
	}
}
