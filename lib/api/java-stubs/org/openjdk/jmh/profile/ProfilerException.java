// SPDX-License-Identifier: MIT
package org.openjdk.jmh.profile;

public class ProfilerException extends Exception {
	public ProfilerException(String text) {
		super(text);
	}
}
