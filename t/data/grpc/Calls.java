// SPDX-License-Identifier: GPL-2.0-or-later
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;

/*
 * Calls by gRPC to a server in the same process, as generated stubs make them: 3 that block, 2 that are waited for
 * later, and 4 with the traceparent that the argument says.
 */
public final class Calls {
	private static final MethodDescriptor.Marshaller<String> TEXT = new MethodDescriptor.Marshaller<String>() {
		@Override public InputStream stream(String s) {
			return new ByteArrayInputStream(s.getBytes());
		}

		@Override public String parse(InputStream in) {
			try {
				return new String(in.readAllBytes());
			} catch (IOException e) {
				throw new IllegalStateException(e);
			}
		}
	};
	private static final MethodDescriptor<String, String> ECHO = MethodDescriptor.<String, String>newBuilder()
		.setType(MethodDescriptor.MethodType.UNARY).setFullMethodName("calls/echo")
		.setRequestMarshaller(TEXT).setResponseMarshaller(TEXT).build();

	static String work(String s) {
		return s + s;
	}

	static void serve(String s, StreamObserver<String> to) {
		to.onNext(work(s));
		to.onCompleted();
	}

	static void blocking(Channel c) {
		ClientCalls.blockingUnaryCall(c, ECHO, CallOptions.DEFAULT, "x");
	}

	static void later(Channel c) throws Exception {
		ClientCalls.futureUnaryCall(c.newCall(ECHO, CallOptions.DEFAULT), "x").get();
	}

	static void given(Channel c, String traceparent) {
		Metadata m = new Metadata();

		m.put(Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER), traceparent);
		ClientCalls.blockingUnaryCall(ClientInterceptors.intercept(c, MetadataUtils.newAttachHeadersInterceptor(m)),
					      ECHO, CallOptions.DEFAULT, "x");
	}

	public static void main(String[] args) throws Exception {
		Server s = InProcessServerBuilder.forName("calls").addService(ServerServiceDefinition.builder("calls")
			.addMethod(ECHO, ServerCalls.asyncUnaryCall(Calls::serve)).build()).build().start();
		ManagedChannel c = InProcessChannelBuilder.forName("calls").build();

		for (int i = 0; i < 3; i++)
			blocking(c);
		for (int i = 0; i < 2; i++)
			later(c);
		for (int i = 0; i < 4; i++)
			given(c, args[0]);
		c.shutdownNow();
		s.shutdownNow();
	}
}
