// SPDX-License-Identifier: MIT
package org.junit.jupiter.api.extension;

public interface AfterAllCallback extends Extension {
	void afterAll(ExtensionContext context) throws Exception;
}
