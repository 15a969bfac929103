// SPDX-License-Identifier: GPL-2.0-or-later
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;

/*
 * A container that hands requests to a servlet: each argument is a traceparent, "-" for none, or "throws", where the
 * request fails whenever it is asked for a header. A servlet forwards to itself once.
 */
public class Servlets extends HttpServlet {
	static int nr;

	static void work() {
		nr++;
	}

	@Override
	protected void service(HttpServletRequest request) {
		work();
		if (nr % 2 == 1)
			service(request, null);
		work();
	}

	public static void main(String[] args) {
		for (String said : args) {
			HttpServletRequest request = name -> {
				if (said.equals("throws"))
					throw new IllegalStateException("no headers");
				return name.equals("traceparent") && !said.equals("-") ? said : null;
			};

			nr = 0;
			new Servlets().service(request, null);
		}
		System.out.println("done");
	}
}
