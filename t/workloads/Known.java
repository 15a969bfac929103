/* Calls that are known by construction, the loop as often as the argument says. */
public class Known {
	static int sink;
	static int leaf(int a) { return a * 31 + sink; }
	static int twice(int a) { return leaf(a) + leaf(a + 1); }
	static int down(int n) { return n == 0 ? leaf(n) : down(n - 1) + 1; }
	static void thrower(int a) { sink += leaf(a); throw new IllegalStateException(); }
	public static void main(String[] a) {
		int n = Integer.parseInt(a[0]);
		new IllegalStateException();
		for (int i = 0; i < n; i++) sink += twice(i);
		for (int i = 0; i < 4; i++) sink += down(3);
		try { thrower(7); } catch (IllegalStateException e) { sink++; }
		sink += twice(1);
		System.out.println("sink " + sink);
	}
}
