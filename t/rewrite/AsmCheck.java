// SPDX-License-Identifier: GPL-2.0-or-later
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.*;
import java.util.*;
import java.util.jar.*;
import java.util.stream.Stream;
import org.objectweb.asm.*;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.analysis.Analyzer;
import org.objectweb.asm.tree.analysis.AnalyzerException;
import org.objectweb.asm.tree.analysis.BasicVerifier;
import org.objectweb.asm.util.CheckClassAdapter;

/**
 * Has ASM read classes and follow the types on each method's stack and in its locals: a verifier beside the
 * JVM's, that infers what the stack maps say. Prints a line for each class that it refuses.
 *
 *	AsmCheck <jar | folder>...
 *
 * Types of objects are not told apart: that needs the classes, and the JVM does it. ASM's own check of
 * stack maps is not asked: up to 9.4 it refuses what javac writes.
 */
public class AsmCheck {
	/* What is newer than this library has no instruction that it does not know. */
	static final int NEWEST = Opcodes.V17;
	static int classes, refused;

	static void check(String where, String name, byte[] b) {
		if ((b[6] << 8 | b[7] & 0xff) > NEWEST) {
			b[6] = 0;
			b[7] = NEWEST;
		}
		classes++;
		try {
			ClassNode c = new ClassNode();
			new ClassReader(b).accept(new CheckClassAdapter(c, false), 0);
			for (MethodNode m : c.methods)
				new Analyzer<>(new BasicVerifier()).analyze(c.name, m);
		} catch (AnalyzerException | RuntimeException e) {
			String text = String.valueOf(e.getMessage()).split("\n")[0];
			refused++;
			System.out.println(where + " " + name + ": " + e.getClass().getName() + "\t" + text);
		}
	}

	static boolean isClass(String name) {
		return name.endsWith(".class") && !name.endsWith("-info.class");
	}

	static void jar(String where, Path path) throws IOException {
		try (JarFile jar = new JarFile(path.toFile())) {
			for (JarEntry e : Collections.list(jar.entries()))
				if (isClass(e.getName()))
					try (InputStream in = jar.getInputStream(e)) {
						check(where, e.getName(), in.readAllBytes());
					}
		}
	}

	static void folder(String where, Path path) throws IOException {
		List<Path> list = new ArrayList<>();
		try (Stream<Path> files = Files.walk(path)) {
			files.filter(p -> isClass(p.toString())).sorted().forEach(list::add);
		}
		for (Path p : list)
			check(where, path.relativize(p).toString(), Files.readAllBytes(p));
	}

	public static void main(String[] args) throws IOException {
		for (String arg : args) {
			Path path = Path.of(arg);
			String where = path.getFileName().toString();
			if (Files.isDirectory(path))
				folder("jdk", path);
			else
				jar(where, path);
		}
		System.out.println(classes + " classes, " + refused + " refused");
	}
}
