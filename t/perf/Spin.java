/* SPDX-License-Identifier: GPL-2.0-or-later */
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.IincInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.VarInsnNode;

/*
 * A Java agent that lets one method of a program that we did not write begin with a loop: difference.sh changes
 * the number of its turns, and nothing else. The loop is code of the method itself, as a slower version of it
 * would have; it has no call and no object, and its steps depend on each other, so that no compiler shortens it.
 *
 *	java -javaagent:spin.jar=<package/Class>.<method>:<turns> ...
 */
public final class Spin implements ClassFileTransformer {
	public static long sink = 0x9e3779b97f4a7c15L;
	private final String owner, method;
	private final int turns;

	private Spin(String owner, String method, int turns) {
		this.owner = owner;
		this.method = method;
		this.turns = turns;
	}

	public static void premain(String args, Instrumentation in) {
		int dot = args.lastIndexOf('.'), colon = args.lastIndexOf(':');

		in.addTransformer(new Spin(args.substring(0, dot), args.substring(dot + 1, colon),
			Integer.parseInt(args.substring(colon + 1))));
	}

	/* Appends x ^= x << n or x ^= x >>> n, of the word that is on the stack. */
	private static void mix(InsnList l, int shift, int n) {
		l.add(new InsnNode(Opcodes.DUP2));
		l.add(new IntInsnNode(Opcodes.BIPUSH, n));
		l.add(new InsnNode(shift));
		l.add(new InsnNode(Opcodes.LXOR));
	}

	private InsnList loop(int x) {
		LabelNode again = new LabelNode(), end = new LabelNode();
		InsnList l = new InsnList();

		l.add(new FieldInsnNode(Opcodes.GETSTATIC, "Spin", "sink", "J"));
		l.add(new VarInsnNode(Opcodes.LSTORE, x));
		l.add(new LdcInsnNode(turns));
		l.add(new VarInsnNode(Opcodes.ISTORE, x + 2));
		l.add(again);
		l.add(new VarInsnNode(Opcodes.ILOAD, x + 2));
		l.add(new JumpInsnNode(Opcodes.IFLE, end));
		l.add(new VarInsnNode(Opcodes.LLOAD, x));
		mix(l, Opcodes.LSHL, 13);
		mix(l, Opcodes.LUSHR, 7);
		mix(l, Opcodes.LSHL, 17);
		l.add(new VarInsnNode(Opcodes.LSTORE, x));
		l.add(new IincInsnNode(x + 2, -1));
		l.add(new JumpInsnNode(Opcodes.GOTO, again));
		l.add(end);
		l.add(new VarInsnNode(Opcodes.LLOAD, x));
		l.add(new FieldInsnNode(Opcodes.PUTSTATIC, "Spin", "sink", "J"));
		return l;
	}

	@Override
	public byte[] transform(ClassLoader loader, String name, Class<?> c, ProtectionDomain d, byte[] bytes) {
		if (!owner.equals(name))
			return null;
		ClassNode node = new ClassNode();
		/* The common superclass is not looked up, which would load classes: the JVM is asked not to verify. */
		ClassWriter out = new ClassWriter(ClassWriter.COMPUTE_FRAMES) {
			@Override
			protected String getCommonSuperClass(String a, String b) {
				return "java/lang/Object";
			}
		};
		int nr = 0;

		new ClassReader(bytes).accept(node, 0);
		for (MethodNode m : node.methods) {
			if (!m.name.equals(method) || m.instructions.size() == 0)
				continue;
			m.instructions.insert(loop(m.maxLocals));
			m.maxLocals += 3;
			nr++;
		}
		if (nr == 0)
			throw new IllegalStateException("no method " + method + " in " + owner);
		node.accept(out);
		System.err.println("Spin: " + owner + "." + method + ": " + turns);
		return out.toByteArray();
	}
}
