// SPDX-License-Identifier: MIT
package org.openjdk.jmh.results;

public class TextResult extends Result<TextResult> {
	private final String output;

	public TextResult(String output, String label) {
		this.output = output;
	}

	public String extendedInfo() {
		return output;
	}
}
