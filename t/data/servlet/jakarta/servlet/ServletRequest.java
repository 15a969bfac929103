// SPDX-License-Identifier: GPL-2.0-or-later
package jakarta.servlet;

/** Of the servlet API what a container calls. */
public interface ServletRequest {
}
