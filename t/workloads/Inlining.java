// SPDX-License-Identifier: GPL-2.0-or-later
/* Small methods that are cheap when inlined, and a loop that inlining does not change; prints the CPU time of a call. */
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

public class Inlining {
	private int state = 1;

	private int next() {
		state = state * 1103515245 + 12345;
		return state >>> 8;
	}

	private int half(int a) {
		return a >> 1;
	}

	private int mix(int a, int b) {
		return half(half(a)) * 31 + (b ^ a);
	}

	private int small(int n) {
		int sum = 0;

		for (int i = 0; i < n; i++)
			sum = mix(sum, next());
		return sum;
	}

	private int heavy(int n) {
		int sum = 0;

		for (int i = 0; i < n * 8; i++)
			sum += sum % (i + 3) ^ i;
		return sum;
	}

	public static void main(String[] args) {
		ThreadMXBean bean = ManagementFactory.getThreadMXBean();
		Inlining x = new Inlining();
		int rounds = Integer.parseInt(args[0]), sum = 0;
		long start = bean.getCurrentThreadCpuTime(), between;

		for (int i = 0; i < rounds; i++)
			sum += x.small(1000);
		between = bean.getCurrentThreadCpuTime();
		for (int i = 0; i < rounds; i++)
			sum += x.heavy(100);
		System.out.println("small " + (between - start) / rounds);
		System.out.println("heavy " + (bean.getCurrentThreadCpuTime() - between) / rounds);
		System.out.println("sum " + sum);
	}
}
