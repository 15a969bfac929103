import arcprof.Event;
import arcprof.Mark;

/* Counts aloud, for as long as N says: a mark, an event and a phase with the number each millisecond. */
public class Ticks {
	static final Mark TICK = new Mark("tick"), LAP = new Mark("lap");
	static final Event TOCK = new Event("tock", "number", "name");

	static void once(int i) {
		long begun = Mark.begin();

		TICK.set(i);
		TOCK.now().put(i).put("t" + i).emit();
		LAP.end(begun);
	}

	public static void main(String[] args) throws Exception {
		for (int i = 0; i < Integer.parseInt(args[0]); i++) {
			once(i);
			Thread.sleep(1);
		}
	}
}
