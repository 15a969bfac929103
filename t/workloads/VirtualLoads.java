// SPDX-License-Identifier: GPL-2.0-or-later
/** Loads a class in a virtual thread. */
public class VirtualLoads {
	static volatile Object sink;

	static class Later {
	}

	static void cause() {
		sink = new Later();
	}

	public static void main(String[] args) throws Exception {
		Thread.ofVirtual().name("virtual").start(VirtualLoads::cause).join();
	}
}
