// SPDX-License-Identifier: GPL-2.0-or-later
import com.sun.management.OperatingSystemMXBean;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A web application: /order is a page of some kB, /cpu the CPU time of the process in seconds, /stop ends it. */
@WebServlet({ "/order", "/cpu", "/stop" })
public final class Shop extends HttpServlet {
	/* Another item comes first each time. */
	private static List<String> items(int nr) {
		List<String> items = new ArrayList<>();

		for (int i = 0; i < 60; i++)
			items.add("item " + (nr + i) * 7919 % 1013);
		Collections.sort(items);
		return items;
	}

	private static String page(HttpSession session) {
		Integer nr = (Integer)session.getAttribute("nr");
		StringBuilder page = new StringBuilder("<html><body><ul>");

		session.setAttribute("nr", nr == null ? 1 : nr + 1);
		for (String item : items(nr == null ? 0 : nr))
			page.append("<li>").append(item).append("</li>");
		return page.append("</ul></body></html>").toString();
	}

	private static double cpu() {
		return ((OperatingSystemMXBean)ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1e9;
	}

	@Override protected void doGet(HttpServletRequest in, HttpServletResponse out) throws IOException {
		switch (in.getServletPath()) {
		case "/order" -> out.getWriter().print(page(in.getSession()));
		case "/cpu" -> out.getWriter().println(cpu());
		default -> new Thread(() -> System.exit(0)).start();
		}
	}
}
