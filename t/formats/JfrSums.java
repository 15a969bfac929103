// SPDX-License-Identifier: GPL-2.0-or-later
// Sums up a recording by the JDK's own reader. For each type of event, label of the weight, and innermost
// function, tab-separated: number of events, sum of the weights.
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedObject;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

class JfrSums {
	private static final String[] WEIGHTS = { "weight", "samplingPeriod", "allocationSize", "size", "samples" };

	private static String plain(RecordedMethod m) {
		String descriptor = m.getDescriptor();
		int end = descriptor.lastIndexOf(')');
		StringBuilder s = new StringBuilder();

		if ((m.getModifiers() & 0x100) == 0 || !descriptor.substring(end).matches("\\)L(;| .*)"))
			return m.getType().getName() + "." + m.getName();
		s.append(m.getName());
		if (descriptor.endsWith(")L;"))
			return s.toString();
		s.append('(');
		for (String type : descriptor.substring(1, end).split(";"))
			if (!type.isEmpty())
				s.append(s.charAt(s.length() - 1) == '(' ? "" : ", ").append(type.substring(1));
		s.append(')');
		return s.append(descriptor, end + 2, descriptor.length() - 1).toString().replaceAll(" $", "");
	}

	private static RecordedThread thread(RecordedEvent e) {
		return e.hasField("sampledThread") ? e.getThread("sampledThread") : e.getThread();
	}

	private static String function(RecordedEvent e) {
		List<RecordedFrame> frames = e.getStackTrace() == null ? List.of() : e.getStackTrace().getFrames();
		RecordedThread t = thread(e);

		if (!frames.isEmpty())
			return plain(frames.get(0).getMethod());
		return t == null ? "[no thread]" : t.getOSName() + " [tid " + t.getOSThreadId() + "]";
	}

	private static String metric(RecordedEvent e) {
		for (var field : e.getFields())
			if (field.getName().equals("weight"))
				return field.getLabel();
		return "";
	}

	private static long weight(RecordedEvent e) {
		for (String name : WEIGHTS)
			if (e.hasField(name))
				return e.getValue(name) instanceof Number n ? n.longValue() : 0;
		return e.getDuration().toNanos();
	}

	public static void main(String[] args) throws Exception {
		Map<String, long[]> sums = new TreeMap<>();

		try (RecordingFile file = new RecordingFile(Path.of(args[0]))) {
			while (file.hasMoreEvents()) {
				RecordedEvent e = file.readEvent();

				if (!e.hasField("stackTrace"))
					continue;
				String key = e.getEventType().getName() + "\t" + metric(e) + "\t" + function(e);
				long[] sum = sums.computeIfAbsent(key, k -> new long[2]);
				sum[0]++;
				sum[1] += weight(e);
			}
		}
		sums.forEach((key, sum) -> System.out.println(key + "\t" + sum[0] + "\t" + sum[1]));
	}
}
