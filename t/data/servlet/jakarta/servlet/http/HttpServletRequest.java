// SPDX-License-Identifier: GPL-2.0-or-later
package jakarta.servlet.http;

public interface HttpServletRequest extends jakarta.servlet.ServletRequest {
	String getHeader(String name);
}
