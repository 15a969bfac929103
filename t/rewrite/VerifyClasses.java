// SPDX-License-Identifier: GPL-2.0-or-later
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.*;
import java.nio.file.*;
import java.util.*;
import java.util.jar.*;
import java.util.stream.Stream;

/**
 * Makes the JVM verify classes, and prints a line for each that it refuses.
 *
 *	VerifyClasses jdk <folder> [module...]	the JDK's own classes, redefined by <folder>/<module>/<class>.class; this
 *						program must be the -javaagent too
 *	VerifyClasses jars <jar>...		every class of each jar, defined by a loader of its own that takes
 *						other classes from the class path
 *
 * What a class needs that is not there is no finding of ours: with classes that were not rewritten
 * the same lines appear.  Verification of the JDK's classes must be switched on (t/rewrite/sweep).
 */
public class VerifyClasses {
	static int classes, linked, refused;

	static void link(String where, String name, Class<?> c) {
		classes++;
		try {
			c.getDeclaredConstructors();	// the JVM links a class before it lists its methods
			linked++;
		} catch (Throwable t) {
			refuse(where, name, t);
		}
	}

	static void refuse(String where, String name, Throwable t) {
		String text = String.valueOf(t.getMessage());
		refused++;
		System.out.println(where + " " + name + ": " + t.getClass().getName() + "\t" + text.lines().findFirst().orElse(""));
		if (t instanceof VerifyError && Boolean.getBoolean("details"))
			System.out.println(text);
	}

	static Instrumentation jvm;

	public static void premain(String args, Instrumentation i) {
		jvm = i;
	}

	/* -Dspoil=true: takes the operand stack from one method, so that a verifier that looks must refuse it. */
	static byte[] bytes(Path path) throws IOException {
		byte[] b = Files.readAllBytes(path);
		for (int i = 8; Boolean.getBoolean("spoil") && i + 3 < b.length; i++)
			if (b[i] == 0x11 && b[i + 3] == (byte) 0xb8 && b[i - 8] == 0 && b[i - 4] == 0) {
				b[i - 7] = 0;
				break;
			}
		return b;
	}

	static void redefine(List<ClassDefinition> batch) {
		try {
			jvm.redefineClasses(batch.toArray(new ClassDefinition[0]));
			classes += batch.size();
			linked += batch.size();
		} catch (Throwable t) {
			if (batch.size() > 1) {		// which of them?
				for (ClassDefinition d : batch)
					redefine(List.of(d));
			} else {
				classes++;
				refuse(batch.get(0).getDefinitionClass().getModule().getName(),
					batch.get(0).getDefinitionClass().getName(), t);
			}
		}
	}

	static void module(Module m, Path root) throws IOException {
		List<ClassDefinition> batch = new ArrayList<>();
		List<String> names = new ArrayList<>();
		try (Stream<Path> files = Files.walk(root)) {
			files.map(p -> root.relativize(p).toString())
				.filter(n -> n.endsWith(".class") && !n.endsWith("module-info.class"))
				.forEach(n -> names.add(n.substring(0, n.length() - 6)));
		}
		Collections.sort(names);
		for (String name : names) {
			try {
				Class<?> c = Class.forName(m, name.replace('/', '.'));
				if (c == null)
					continue;
				c.getDeclaredConstructors();	// links it: the original must be fine
				batch.add(new ClassDefinition(c, bytes(root.resolve(name + ".class"))));
			} catch (Throwable t) {
				classes++;
				refuse(m.getName(), name, t);
			}
			if (batch.size() == 250) {
				redefine(batch);
				batch.clear();
			}
		}
		if (!batch.isEmpty())
			redefine(batch);
	}

	static void jdk(Path folder, Set<String> wanted) throws IOException {
		for (Module m : ModuleLayer.boot().modules())
			if ((wanted.isEmpty() || wanted.contains(m.getName())) && Files.exists(folder.resolve(m.getName())))
				module(m, folder.resolve(m.getName()));
	}

	/** Defines the classes of one jar itself, whatever the class path has of the same name. */
	static class Loader extends ClassLoader {
		final JarFile jar;

		Loader(JarFile jar) {
			super(VerifyClasses.class.getClassLoader());
			this.jar = jar;
		}

		@Override protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			synchronized (getClassLoadingLock(name)) {
				Class<?> c = findLoadedClass(name);
				JarEntry e = jar.getJarEntry(name.replace('.', '/') + ".class");
				if (c != null)
					return c;
				if (e == null || name.startsWith("java."))
					return super.loadClass(name, resolve);
				try (InputStream in = jar.getInputStream(e)) {
					byte[] b = in.readAllBytes();
					return defineClass(name, b, 0, b.length);
				} catch (IOException x) {
					throw new ClassNotFoundException(name, x);
				}
			}
		}
	}

	static void jar(String path) throws IOException {
		String where = path.substring(path.lastIndexOf('/') + 1);
		try (JarFile jar = new JarFile(path)) {
			Loader loader = new Loader(jar);
			List<String> names = new ArrayList<>();
			jar.stream().map(JarEntry::getName)
				.filter(n -> n.endsWith(".class") && !n.endsWith("-info.class") && !n.startsWith("META-INF/"))
				.sorted().forEach(n -> names.add(n.substring(0, n.length() - 6).replace('/', '.')));
			for (String name : names) {
				try {
					link(where, name, Class.forName(name, false, loader));
				} catch (Throwable t) {
					classes++;
					refuse(where, name, t);
				}
			}
		}
	}

	public static void main(String[] args) throws IOException {
		List<String> rest = Arrays.asList(args).subList(1, args.length);
		if (args[0].equals("jdk"))
			jdk(Path.of(rest.get(0)), new HashSet<>(rest.subList(1, rest.size())));
		else
			for (String path : rest)
				jar(path);
		System.out.println(classes + " classes, " + linked + " linked, " + refused + " refused");
	}
}
