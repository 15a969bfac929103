// SPDX-License-Identifier: MIT
package org.openjdk.jmh.profile;

public interface Profiler {
	String getDescription();
}
