// SPDX-License-Identifier: MIT
package org.openjdk.jmh.profile;

public interface ExternalProfiler extends Profiler {
	java.util.Collection<String> addJVMInvokeOptions(org.openjdk.jmh.infra.BenchmarkParams params);

	java.util.Collection<String> addJVMOptions(org.openjdk.jmh.infra.BenchmarkParams params);

	void beforeTrial(org.openjdk.jmh.infra.BenchmarkParams params);

	java.util.Collection<? extends org.openjdk.jmh.results.Result> afterTrial(
		org.openjdk.jmh.results.BenchmarkResult result, long pid, java.io.File out, java.io.File err);

	boolean allowPrintOut();

	boolean allowPrintErr();
}
