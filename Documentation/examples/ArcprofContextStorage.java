// SPDX-License-Identifier: MIT
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Labels each thread with the trace id of the span that is current on it, where the program runs under
 * "arcprof record -e label". Nothing of arcprof is needed on the class path: the recorder's agent defines
 * arcprof.Label. Once, before the first context is made:
 *
 *     ContextStorage.addWrapper(ArcprofContextStorage::new);
 */
public final class ArcprofContextStorage implements ContextStorage {
	/* (String, String)AutoCloseable, null where nothing is recorded */
	private static final MethodHandle SET = find();

	private final ContextStorage storage;

	public ArcprofContextStorage(ContextStorage storage) {
		this.storage = storage;
	}

	private static MethodHandle find() {
		try {
			Class<?> label = Class.forName("arcprof.Label");

			return MethodHandles.publicLookup()
				.findStatic(label, "set", MethodType.methodType(label, String.class, String.class))
				.asType(MethodType.methodType(AutoCloseable.class, String.class, String.class));
		} catch (ReflectiveOperationException e) {
			return null;
		}
	}

	@Override
	public Scope attach(Context context) {
		Scope scope = storage.attach(context);

		return SET == null ? scope : labelled(scope, Span.fromContext(context).getSpanContext());
	}

	private static Scope labelled(Scope scope, SpanContext span) {
		String id = span.isValid() ? span.getTraceId() : null;
		AutoCloseable label;

		try {
			label = (AutoCloseable)SET.invokeExact("trace-id", id);
		} catch (Throwable e) {
			return scope;
		}
		return () -> {
			try {
				label.close();
			} catch (Exception e) {
				/* Label.close() throws none */
			}
			scope.close();
		};
	}

	@Override
	public Context current() {
		return storage.current();
	}
}
