// SPDX-License-Identifier: GPL-2.0-or-later
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;

/**
 * A database in memory under load from two threads, as many rounds as the argument says; prints
 * sums that must come out. Needs H2 on the class path.
 */
public final class H2Load {
	static final String URL = "jdbc:h2:mem:load;DB_CLOSE_DELAY=-1";

	static long round(Connection c, int who, int n) throws Exception {
		long sum = 0;

		try (PreparedStatement p = c.prepareStatement("insert into item(owner, nr, text) values(?, ?, ?)")) {
			for (int i = 0; i < 200; i++) {
				p.setInt(1, who);
				p.setInt(2, n * 200 + i);
				p.setString(3, "item " + i * 31 % 97);
				p.executeUpdate();
			}
		}
		try (PreparedStatement p = c.prepareStatement(
			"select text, count(*), sum(nr) from item where owner = ? group by text order by text")) {
			p.setInt(1, who);
			try (ResultSet r = p.executeQuery()) {
				while (r.next())
					sum += r.getString(1).length() + r.getLong(2) + r.getLong(3);
			}
		}
		return sum;
	}

	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[0]);
		Thread[] threads = new Thread[2];
		long[] sums = new long[2];

		try (Connection c = DriverManager.getConnection(URL); Statement s = c.createStatement()) {
			s.execute("drop all objects");
			s.execute("create table item(id identity primary key, owner int, nr int, text varchar(40))");
			s.execute("create index by_owner on item(owner, text)");
		}
		for (int t = 0; t < 2; t++) {
			int who = t;

			threads[t] = new Thread(() -> {
				try (Connection c = DriverManager.getConnection(URL)) {
					for (int n = 0; n < rounds; n++)
						sums[who] += round(c, who, n);
				} catch (Exception e) {
					throw new IllegalStateException(e);
				}
			}, "client " + t);
			threads[t].start();
		}
		for (Thread t : threads)
			t.join();
		System.out.println(sums[0] + " " + sums[1]);
	}
}
