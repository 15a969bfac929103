// SPDX-License-Identifier: GPL-2.0-or-later
// Sums up a recording by the JDK's own reader. For each type of event, its metric, and what it is about (a class
// or the innermost function), tab-separated: number of events, sum of the weights.
import java.lang.invoke.MethodType;
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
	private static final String[] WEIGHTS = { "weight", "samplingPeriod", "tlabSize", "allocationSize" };
	private static final String[] CLASSES = { "objectClass", "monitorClass", "parkedClass" };

	private static String plain(RecordedMethod m) {
		String descriptor = m.getDescriptor();
		int end = descriptor.lastIndexOf(')');
		StringBuilder s = new StringBuilder();

		if ((m.getModifiers() & 0x100) == 0 || !descriptor.substring(end).matches("\\)L(;| .*)"))
			return plain(m.getType().getName()) + "." + m.getName();
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

	/* The JDK leaves arrays as they are: "[Ljava.lang.String;", "[B". */
	private static String plain(String type) {
		int n = type.lastIndexOf('[') + 1;
		String element = type.substring(n);

		if (n > 0)
			element = element.startsWith("L") ? element.substring(1, element.length() - 1)
				: MethodType.fromMethodDescriptorString("()" + element, null).returnType().getName();
		/* hidden classes: the reader makes the slash before their address a dot */
		return element.replaceAll("\\.(0x[0-9a-f]+)$", "/$1") + "[]".repeat(n);
	}

	private static RecordedThread thread(RecordedEvent e) {
		return e.hasField("sampledThread") ? e.getThread("sampledThread") : e.getThread();
	}

	private static String function(RecordedEvent e) {
		List<RecordedFrame> frames = e.getStackTrace() == null ? List.of() : e.getStackTrace().getFrames();
		RecordedThread t = thread(e);

		for (String name : CLASSES)
			if (e.hasField(name) && e.getClass(name) != null)
				return plain(e.getClass(name).getName());
		if (!frames.isEmpty())
			return plain(frames.get(0).getMethod());
		if (t == null)
			return "[unknown thread]";
		return (t.getJavaName() == null || t.getJavaName().isEmpty() ? t.getOSName() : t.getJavaName())
				+ " [tid " + (t.getOSThreadId() > 0 ? t.getOSThreadId() : t.getJavaThreadId()) + "]";
	}

	/* Of arcprof's samples: an event before them says what they weigh, and in what. */
	private static RecordedEvent weight;

	private static String metric(RecordedEvent e) {
		String type = e.getEventType().getName();

		if (type.equals("jdk.ExecutionSample") && weight != null)
			return weight.getEventType().getField("weight").getLabel();
		for (var field : e.getFields())
			if (field.getName().equals("weight")
					&& (type.startsWith("arcprof.") || type.equals("jdk.ExecutionSample")))
				return field.getLabel();
		return type;
	}

	private static long weight(RecordedEvent e) {
		if (e.getEventType().getName().equals("jdk.ExecutionSample") && weight != null)
			return weight.getLong("weight");
		for (String name : WEIGHTS)
			if (e.hasField(name))
				return name.equals("samplingPeriod") ? e.getDuration(name).toNanos() : e.getLong(name);
		if (e.hasField("timeSpan"))
			return e.getDuration("timeSpan").toNanos();
		if (e.getEventType().getName().equals("profiler.Malloc"))
			return e.getLong("size");
		return e.hasField("duration") ? e.getDuration().toNanos() : 1;
	}

	public static void main(String[] args) throws Exception {
		Map<String, long[]> sums = new TreeMap<>();

		try (RecordingFile file = new RecordingFile(Path.of(args[0]))) {
			while (file.hasMoreEvents()) {
				RecordedEvent e = file.readEvent();

				if (e.getEventType().getName().equals("arcprof.sample.Weight"))
					weight = e;
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
