// SPDX-License-Identifier: MIT
package org.junit.jupiter.api.extension;

public interface ExtensionContext {
	Class<?> getRequiredTestClass();
}
