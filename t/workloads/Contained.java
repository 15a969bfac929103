/**
 * Contained ROUNDS: boxes with things in known numbers: each round makes one more box, with 100 things, and
 * collects all garbage.
 */
public class Contained {
	static final class Thing { }

	static final class Box {
		final Thing[] things = new Thing[100];

		Box() {
			for (int i = 0; i < things.length; i++)
				things[i] = new Thing();
		}
	}

	static final java.util.ArrayList<Box> boxes = new java.util.ArrayList<>();

	public static void main(String[] args) {
		for (int i = Integer.parseInt(args[0]); i > 0; i--) {
			boxes.add(new Box());
			System.gc();
		}
	}
}
