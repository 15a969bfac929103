// SPDX-License-Identifier: MIT
package io.opentelemetry.api.trace;

public interface SpanContext {
	String getTraceId();

	boolean isValid();
}
