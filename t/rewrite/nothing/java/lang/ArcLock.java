// SPDX-License-Identifier: GPL-2.0-or-later
package java.lang;

/** The probes of locks, for verifiers. */
public class ArcLock {
	public static void enter(Object o, int hash) { }

	public static void entered(Object o) { }

	public static void exit(Object o) { }

	public static void waited() { }

	public static void notify(Object o) { }

	public static void notifyAll(Object o) { }

	public static void owns(Object o, Thread t) { }

	public static void state(Object o, int n) { }
}
