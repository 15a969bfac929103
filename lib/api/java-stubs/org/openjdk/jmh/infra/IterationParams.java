// SPDX-License-Identifier: MIT
package org.openjdk.jmh.infra;

public abstract class IterationParams {
	public abstract int getCount();

	public abstract org.openjdk.jmh.runner.options.TimeValue getTime();
}
