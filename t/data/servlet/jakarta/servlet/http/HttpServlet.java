// SPDX-License-Identifier: GPL-2.0-or-later
package jakarta.servlet.http;

import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;

public abstract class HttpServlet {
	public void service(ServletRequest request, ServletResponse response) {
		service((HttpServletRequest)request);
	}

	protected abstract void service(HttpServletRequest request);
}
