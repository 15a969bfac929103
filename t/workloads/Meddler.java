// SPDX-License-Identifier: GPL-2.0-or-later
import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.security.ProtectionDomain;

/**
 * A Java agent beside others: hands out classes with new (equal) bytes when they load, and retransforms
 * and redefines those of the program again and again while it runs. Argument: the program's class; "Class,from=to"
 * has that text replaced by another of the same length in it, and no class redefined.
 */
public final class Meddler {
	static String program, from, to;

	static final class Copier implements ClassFileTransformer {
		@Override
		public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] in) {
			if (loader == null)
				return null;
			if (from == null || !name.equals(program))
				return in.clone();
			return new String(in, StandardCharsets.ISO_8859_1).replace(from, to).getBytes(StandardCharsets.ISO_8859_1);
		}
	}

	static void change(Instrumentation inst, Class<?> c, boolean redefine) throws Exception {
		if (!redefine) {
			inst.retransformClasses(c);
			return;
		}
		try (InputStream in = c.getResourceAsStream("/" + c.getName() + ".class")) {
			if (in != null)
				inst.redefineClasses(new ClassDefinition(c, in.readAllBytes()));
		}
	}

	static void meddle(Instrumentation inst) {
		for (int n = 0; ; n++)
			for (Class<?> c : inst.getAllLoadedClasses())
				if (c.getName().startsWith(program) && inst.isModifiableClass(c))
					try {
						change(inst, c, from == null && n % 2 != 0);
						Thread.sleep(5);
					} catch (Exception | InternalError e) {
						changed--;	/* the VM refuses classes whose initialiser failed */
					} finally {
						changed++;
					}
	}

	static volatile int changed;

	public static void premain(String args, Instrumentation inst) {
		String[] a = args.split("[,=]");

		program = a[0];
		if (a.length == 3) {
			from = a[1];
			to = a[2];
		}
		inst.addTransformer(new Copier(), true);
		inst.addTransformer(new Copier(), false);
		Thread t = new Thread(() -> meddle(inst), "meddler");
		t.setDaemon(true);
		t.start();
	}
}
