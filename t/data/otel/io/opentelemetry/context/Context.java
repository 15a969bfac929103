// SPDX-License-Identifier: MIT
package io.opentelemetry.context;

/* What is asked of it here is its span: Span.fromContext(). */
public interface Context {
	static Context root() {
		return ContextStorage.ROOT;
	}

	static Context current() {
		return ContextStorage.get().current();
	}

	default Scope makeCurrent() {
		return ContextStorage.get().attach(this);
	}
}
