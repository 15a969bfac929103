// SPDX-License-Identifier: GPL-2.0-or-later
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** Runs the main() of a class as often as the first argument says; prints the seconds of CPU time after each. */
public final class Passes {
	static double cpu() {
		return ((OperatingSystemMXBean)ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1e9;
	}

	public static void main(String[] args) throws Exception {
		String[] rest = java.util.Arrays.copyOfRange(args, 2, args.length);

		for (int i = 0; i < Integer.parseInt(args[0]); i++) {
			Class.forName(args[1]).getMethod("main", String[].class).invoke(null, (Object)rest);
			System.err.println(cpu());
		}
	}
}
