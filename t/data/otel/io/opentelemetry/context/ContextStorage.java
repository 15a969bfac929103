// SPDX-License-Identifier: MIT
package io.opentelemetry.context;

import java.util.function.Function;

public interface ContextStorage {
	Context ROOT = new Context() { };

	Scope attach(Context toAttach);

	Context current();

	static ContextStorage get() {
		return Storages.wrapped;
	}

	static void addWrapper(Function<? super ContextStorage, ? extends ContextStorage> wrapper) {
		Storages.wrapped = wrapper.apply(Storages.wrapped);
	}
}

final class Storages {
	static volatile ContextStorage wrapped = new OfThreads();
}

final class OfThreads implements ContextStorage {
	private static final ThreadLocal<Context> CURRENT = new ThreadLocal<>();

	@Override
	public Scope attach(Context context) {
		Context before = current();

		CURRENT.set(context);
		return () -> CURRENT.set(before);
	}

	@Override
	public Context current() {
		Context c = CURRENT.get();

		return c == null ? ROOT : c;
	}
}
