// SPDX-License-Identifier: GPL-2.0-or-later
import java.util.*;
public class Seed {
    static volatile int sink;
    interface Op { int go(int x); }
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    static int twice(Op o, int x) { return o.go(o.go(x)); }
    static void boom(int n) { if (n % 7 == 0) throw new IllegalStateException(); sink++; }
    public static void main(String[] a) throws Exception {
        int rounds = Integer.parseInt(a[0]);
        Thread t = new Thread(() -> { for (int i = 0; i < rounds; i++) sink += fib(18 + i % 3); }, "worker");
        t.start();
        for (int i = 0; i < rounds; i++) { sink += twice(x -> x + sink, i); try { boom(i); } catch (IllegalStateException e) { sink--; } sink += fib(16); }
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < rounds; i++) b.append(new HashMap<String,Integer>(Map.of("a", i)).toString());
        t.join();
    }
}
