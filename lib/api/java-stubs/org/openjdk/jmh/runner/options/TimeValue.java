// SPDX-License-Identifier: MIT
package org.openjdk.jmh.runner.options;

public abstract class TimeValue {
	public abstract long convertTo(java.util.concurrent.TimeUnit unit);
}
