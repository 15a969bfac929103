import static org.junit.jupiter.api.Assertions.assertEquals;

import arcprof.JUnitBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A test of JUnit's that holds the budget in the file that the property limits names. */
class ShopTest {
	static class Shop {
		static int query(int item) {
			return item % 10;
		}

		static int handle(int request) {
			return query(request) + query(request + 1) + query(request + 2);
		}
	}

	@RegisterExtension
	static final JUnitBudget BUDGET = new JUnitBudget(System.getProperty("limits"), "--callflow=ShopTest$Shop.*");

	@Test
	void addsUp() {
		for (int i = 0; i < 1000; i++)
			assertEquals(6, Shop.handle(1));
	}
}
