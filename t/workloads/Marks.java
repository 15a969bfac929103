import arcprof.Mark;

/* Marks and phases: "Marks N" sets N marks in main, and N with values in another thread. */
public class Marks {
	static final Mark STEP = new Mark("étape"), ALL = new Mark("all");

	static void step() {
		STEP.set();
	}

	public static void main(String[] args) throws Exception {
		int n = Integer.parseInt(args[0]);
		long begun = Mark.begin();

		for (int i = 0; i < n; i++)
			step();
		Thread t = new Thread(() -> {
			for (int i = 0; i < n; i++)
				STEP.set(i);
		}, "other");
		t.start();
		t.join();
		ALL.end(begun);
		System.out.println("marked");
	}
}
