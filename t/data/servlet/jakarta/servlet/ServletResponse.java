// SPDX-License-Identifier: GPL-2.0-or-later
package jakarta.servlet;

public interface ServletResponse {
}
