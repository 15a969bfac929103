// SPDX-License-Identifier: GPL-2.0-or-later
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.concurrent.CountDownLatch;

/*
 * Calls over HTTP. "Http serve FILE": writes its port to the file, and answers each request by its traceparent and
 * Arcprof-Call, "-" for none, until somebody asks for /stop. "Http call PORT N": N calls by each client, some of which
 * say a traceparent of their own; prints what the server got, a line for each kind. "Http both": for each number that
 * it reads so many calls to a server of its own, by each client in turn, and prints what that got last.
 */
public class Http {
	static final String GIVEN = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", GIVEN_TOO = GIVEN.replace("b7-", "b8-");
	static final CountDownLatch stopped = new CountDownLatch(1);
	static final HttpClient client = HttpClient.newHttpClient();
	static String base;

	static String header(HttpExchange x, String name) {
		String s = x.getRequestHeaders().getFirst(name);

		return s == null ? "-" : s;
	}

	static byte[] work(HttpExchange x) {
		return (header(x, "traceparent") + " " + header(x, "Arcprof-Call")).getBytes();
	}

	static void handle(HttpExchange x) throws IOException {
		byte[] said = work(x);

		x.sendResponseHeaders(200, said.length);
		x.getResponseBody().write(said);
		x.close();
		if (x.getRequestURI().getPath().equals("/stop"))
			stopped.countDown();
	}

	static HttpServer server() throws IOException {
		HttpServer s = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);

		s.createContext("/", Http::handle);
		s.start();
		base = "http://127.0.0.1:" + s.getAddress().getPort();
		return s;
	}

	static void both() throws Exception {
		HttpServer s = server();
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		String line, said = null;

		while ((line = in.readLine()) != null) {
			for (int i = Integer.parseInt(line); i > 0; i--)
				said = i % 2 == 0 ? byUrl("/", null) : byClient("/", null);
			print(line, said);
		}
		s.stop(0);
	}

	static void serve(String file) throws Exception {
		HttpServer s = server();

		Files.write(Paths.get(file + ".new"), String.valueOf(s.getAddress().getPort()).getBytes());
		Files.move(Paths.get(file + ".new"), Paths.get(file));
		stopped.await();
		s.stop(0);
	}

	static String byClient(String path, String given) throws Exception {
		HttpRequest.Builder b = HttpRequest.newBuilder(URI.create(base + path));

		if (given != null)
			b.header("traceparent", given);
		return client.send(b.build(), HttpResponse.BodyHandlers.ofString()).body();
	}

	static String byUrl(String path, String given) throws Exception {
		HttpURLConnection c = (HttpURLConnection)new URL(base + path).openConnection();

		if (given != null)
			c.setRequestProperty("traceparent", given);
		if (c.getResponseCode() != 200)		/* the call; what follows has the answer */
			throw new IOException("" + c.getResponseCode());
		try (InputStream in = c.getInputStream()) {
			return new String(in.readAllBytes());
		}
	}

	static String later(String path) throws Exception {
		return client.sendAsync(HttpRequest.newBuilder(URI.create(base + path)).build(),
					HttpResponse.BodyHandlers.ofString()).get().body();
	}

	/* A number is another one each time. */
	static void print(String kind, String said) {
		System.out.println(kind + " " + said.replaceAll(" [0-9a-f]{16}$", " number"));
	}

	static void call(int n) throws Exception {
		for (int i = 0; i < n; i++) {
			print("client", byClient("/a", null));
			print("url", byUrl("/b", null));
			print("async", later("/c"));
		}
		print("given-client", byClient("/d", GIVEN));
		print("given-url", byUrl("/e", GIVEN_TOO));
		byUrl("/stop", null);
	}

	public static void main(String[] args) throws Exception {
		if (args[0].equals("serve")) {
			serve(args[1]);
			return;
		}
		if (args[0].equals("both")) {
			both();
			return;
		}
		base = "http://127.0.0.1:" + args[1];
		call(Integer.parseInt(args[2]));
	}
}
