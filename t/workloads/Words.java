// SPDX-License-Identifier: GPL-2.0-or-later
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * What t/quickstart profiles: writes a text with words of a skewed distribution, splits it,
 * counts the words and sorts them, for as many seconds as the first argument says.
 */
public final class Words {
	private static final String[] SYLLABLES = {
		"ar", "ba", "co", "de", "el", "fi", "go", "hu", "in", "jo", "ka", "lo", "mi", "no", "or", "pe",
	};

	static String word(Random random) {
		StringBuilder b = new StringBuilder();
		int rank = (int) (Math.exp(random.nextDouble() * 8));

		for (; rank > 0; rank /= SYLLABLES.length)
			b.append(SYLLABLES[rank % SYLLABLES.length]);
		return b.toString();
	}

	static String write(Random random, int words) {
		StringBuilder text = new StringBuilder();

		for (int i = 0; i < words; i++)
			text.append(word(random)).append(i % 12 == 11 ? ".\n" : " ");
		return text.toString();
	}

	static List<String> split(String text) {
		List<String> words = new ArrayList<>();
		int start = -1;

		for (int i = 0; i < text.length(); i++) {
			if (Character.isLetter(text.charAt(i))) {
				if (start < 0)
					start = i;
			} else if (start >= 0) {
				words.add(text.substring(start, i));
				start = -1;
			}
		}
		return words;
	}

	static Map<String, Integer> count(List<String> words) {
		Map<String, Integer> counts = new HashMap<>();

		for (String word : words)
			counts.merge(word, 1, Integer::sum);
		return counts;
	}

	static List<String> sort(Map<String, Integer> counts) {
		List<String> words = new ArrayList<>(counts.keySet());

		words.sort(Comparator.comparing((String w) -> counts.get(w)).reversed()
			.thenComparing(Comparator.naturalOrder()));
		return words;
	}

	public static void main(String[] args) {
		double seconds = args.length > 0 ? Double.parseDouble(args[0]) : 3;
		long end = System.nanoTime() + (long) (seconds * 1e9);
		Random random = new Random(1);
		int rounds = 0;
		String most = "";

		do {
			most = sort(count(split(write(random, 50000)))).get(0);
			rounds++;
		} while (System.nanoTime() < end);
		System.out.println(rounds + " texts; the most frequent word of the last is " + most);
	}
}
