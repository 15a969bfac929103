// SPDX-License-Identifier: MIT
package org.openjdk.jmh.infra;

public abstract class BenchmarkParams {
	public abstract String id();

	public abstract IterationParams getWarmup();
}
