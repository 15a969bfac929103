// SPDX-License-Identifier: GPL-2.0-or-later
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/*
 * Statements of known numbers, in a database in memory: "Sql N". Needs H2 on the class path. What has
 * methods of the same names and is no statement, and one statement inside another, count for nothing of their own.
 */
public final class Sql {
	static final String URL = "jdbc:h2:mem:sql;DB_CLOSE_DELAY=-1";

	/* Not JDBC's, though it looks like it. */
	static boolean execute(Statement s, String sql) throws SQLException {
		return new Sql().execute(s, sql, 1);
	}

	boolean execute(String sql) {
		return sql == null;
	}

	boolean execute(Statement s, String sql, int n) throws SQLException {
		return execute(sql) | s.execute(sql);
	}

	/* What H2 calls inside a statement. */
	public static int inner(Connection c, int n) throws SQLException {
		try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("select 40 + " + n)) {
			r.next();
			return r.getInt(1);
		}
	}

	static void texts(Connection c, int n) throws SQLException {
		try (Statement s = c.createStatement()) {
			for (int i = 0; i < n; i++) {
				s.executeUpdate("insert into item values (" + i + ", 'secret " + i + "')");
				s.executeQuery("select * from item where id = " + i).close();
			}
			s.executeQuery("select inner_one(2)").close();
		}
	}

	static void prepared(Connection c, int n) throws SQLException {
		try (PreparedStatement p = c.prepareStatement("select text from item where id in (?, ?)")) {
			for (int i = 0; i < n; i++) {
				p.setInt(1, i);
				p.setInt(2, i + 1);
				p.executeQuery().close();
			}
		}
		try (PreparedStatement p = c.prepareStatement("update item set text = ? where id = ?");
		     Statement s = c.createStatement()) {
			for (int i = 0; i < n; i++) {
				p.setString(1, "x");
				p.setInt(2, i);
				p.addBatch();
				s.addBatch("delete from item where id = " + i);
			}
			p.executeBatch();
			s.executeBatch();
		}
	}

	static void fails(Connection c) {
		try (Statement s = c.createStatement()) {
			s.execute("select nothing from nowhere");
		} catch (SQLException e) {
			return;
		}
		throw new IllegalStateException();
	}

	static void run(int n) throws SQLException {
		try (Connection c = DriverManager.getConnection(URL)) {
			c.setAutoCommit(false);
			texts(c, n);
			prepared(c, n);
			fails(c);
			c.commit();
		}
	}

	public static void main(String[] args) throws Exception {
		int n = Integer.parseInt(args[0]);

		try (Connection c = DriverManager.getConnection(URL); Statement s = c.createStatement()) {
			execute(s, "create table item(id int, text varchar(40))");
			s.execute("create alias inner_one for 'Sql.inner'");
			run(n);
			s.execute("shutdown");
		}
	}
}
