// SPDX-License-Identifier: GPL-2.0-or-later
// A server as plain as any, and its client: usage: Serving SECONDS REQUESTS_PER_SECOND
// Each request sorts, matches, formats and puts away in a cache that forgets. Prints how many were answered.

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

public class Serving {
	private static final Pattern WORDS = Pattern.compile("([a-z]+)-(\\d+)");
	private static final Map<Integer, String> cache = new LinkedHashMap<>() {
		@Override
		protected boolean removeEldestEntry(Map.Entry<Integer, String> e) {
			return size() > 500;
		}
	};

	private static String page(int n) {
		Random r = new Random(n);
		List<String> words = new ArrayList<>();

		for (int i = 0; i < 200; i++)
			words.add(String.format("word%s-%d", Integer.toString(r.nextInt(1000), 36), i));
		return words.stream().sorted().filter(w -> WORDS.matcher(w).find()).collect(Collectors.joining("\n"));
	}

	private static void answer(HttpExchange x) throws IOException {
		int n = Integer.parseInt(x.getRequestURI().getQuery());
		String text;

		synchronized (cache) {
			text = cache.computeIfAbsent(n, Serving::page);
		}
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		x.sendResponseHeaders(200, bytes.length);
		x.getResponseBody().write(bytes);
		x.close();
	}

	public static void main(String[] args) throws Exception {
		long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
		long pause = 1000 / Math.max(1, Long.parseLong(args[1]));
		HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		ExecutorService threads = Executors.newFixedThreadPool(4);
		Random r = new Random(1);
		long nr = 0;

		server.setExecutor(threads);
		server.createContext("/", Serving::answer);
		server.start();
		while (System.nanoTime() < end) {
			URL url = new URL("http://127.0.0.1:" + server.getAddress().getPort() + "/?" + r.nextInt(5000));

			nr += url.openStream().readAllBytes().length > 0 ? 1 : 0;
			Thread.sleep(pause);
		}
		server.stop(0);
		threads.shutdown();
		System.out.println(nr);
	}
}
