// SPDX-License-Identifier: GPL-2.0-or-later
import java.io.*;
import java.nio.file.*;
import java.util.*;

/**
 * Writes class files that no compiler of today writes: Odd <folder>.  Old.class is of JDK 1.1, with
 * subroutines near and far, wide instructions and a switch without cases at the end; Twin.class is of JDK 8,
 * with constructors that call super() in two places, and not in the order of the code.
 * Run: java Old, java Twin; both print what their methods return.
 */
public class Odd {
	static final int ILOAD_0 = 0x1a, ILOAD_1 = 0x1b, ISTORE_1 = 0x3c, ALOAD_0 = 0x2a, ASTORE_2 = 0x4d, SIPUSH = 0x11,
		IFEQ = 0x99, IF_ICMPNE = 0xa0, IFLE = 0x9e, GOTO = 0xa7, JSR = 0xa8, RET = 0xa9, LOOKUPSWITCH = 0xab, IRETURN = 0xac,
		RETURN = 0xb1, GETSTATIC = 0xb2, INVOKEVIRTUAL = 0xb6, INVOKESPECIAL = 0xb7, INVOKESTATIC = 0xb8, NEW = 0xbb,
		ATHROW = 0xbf, WIDE = 0xc4, GOTO_W = 0xc8, JSR_W = 0xc9, IINC = 0x84, DUP = 0x59, POP = 0x57, ACONST_NULL = 1;

	/** The constant pool. */
	static class Pool {
		final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		final DataOutputStream out = new DataOutputStream(bytes);
		final Map<String, Integer> known = new HashMap<>();
		int nr = 1;

		int add(String key, int tag, int a, int b) throws IOException {
			if (!known.containsKey(key)) {
				out.writeByte(tag);
				if (tag == 1)
					out.writeUTF(key);
				else
					out.writeShort(a);
				if (b != 0)
					out.writeShort(b);
				known.put(key, nr++);
			}
			return known.get(key);
		}

		int text(String s) throws IOException {
			return add(s, 1, 0, 0);
		}

		int type(String s) throws IOException {
			return add("class " + s, 7, text(s), 0);
		}

		int ref(int tag, String owner, String name, String type) throws IOException {
			return add(tag + owner + name + type, tag, type(owner),
				add(name + ":" + type, 12, text(name), text(type)));
		}
	}

	/** The code of a method: instructions, and jumps to labels. */
	static class Code {
		byte[] b = new byte[65536];
		int len;
		final Map<String, Integer> labels = new HashMap<>();
		final List<Object[]> jumps = new ArrayList<>();	// label, place, start of the instruction, wide?

		Code op(int... bytes) {
			for (int x : bytes)
				b[len++] = (byte) x;
			return this;
		}

		Code op2(int op, int v) {
			return op(op, v >> 8, v);
		}

		Code label(String name) {
			labels.put(name, len);
			return this;
		}

		Code jump(int op, String to) {
			boolean wide = op == GOTO_W || op == JSR_W;
			jumps.add(new Object[] { to, len + 1, len, wide });
			return wide ? op(op, 0, 0, 0, 0) : op(op, 0, 0);
		}

		/** Nothing happens, but the code is eleven bytes longer for each, and has a return. */
		Code fill(int n) {
			for (int i = 0; i < n; i++) {
				String over = "fill" + len;
				op(ILOAD_0).op2(SIPUSH, 30000).jump(IF_ICMPNE, over).op2(SIPUSH, i).op(IRETURN).label(over);
			}
			return this;
		}

		int at(String label) {
			return labels.get(label);
		}

		byte[] bytes() {
			for (Object[] j : jumps) {
				int d = at((String) j[0]) - (Integer) j[2], at = (Integer) j[1];
				if (!(Boolean) j[3] && d != (short) d)
					throw new IllegalStateException("too far: " + j[0]);
				for (int i = (Boolean) j[3] ? 4 : 2; i-- > 0; d >>= 8)
					b[at + i] = (byte) d;
			}
			return Arrays.copyOf(b, len);
		}
	}

	static class Type {
		final Pool pool = new Pool();
		final String name, parent;
		final int version;
		final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		final DataOutputStream out = new DataOutputStream(bytes);
		int methods;

		Type(String name, String parent, int version) {
			this.name = name;
			this.parent = parent;
			this.version = version;
		}

		/** handlers: start, end, handler as labels. frames: a StackMapTable's entries, or null. */
		void method(int flags, String method, String type, int stack, int locals, Code c, String[] handlers,
			int nrFrames, byte[] frames) throws IOException {
			byte[] code = c.bytes();
			int nrHandlers = handlers.length / 3;
			out.writeShort(flags);
			out.writeShort(pool.text(method));
			out.writeShort(pool.text(type));
			out.writeShort(1);
			out.writeShort(pool.text("Code"));
			out.writeInt(12 + code.length + 8 * nrHandlers + (frames == null ? 0 : 8 + frames.length));
			out.writeShort(stack);
			out.writeShort(locals);
			out.writeInt(code.length);
			out.write(code);
			out.writeShort(nrHandlers);
			for (int i = 0; i < handlers.length; i += 3) {
				for (int k = 0; k < 3; k++)
					out.writeShort(c.at(handlers[i + k]));
				out.writeShort(0);
			}
			out.writeShort(frames == null ? 0 : 1);
			if (frames != null) {
				out.writeShort(pool.text("StackMapTable"));
				out.writeInt(2 + frames.length);
				out.writeShort(nrFrames);
				out.write(frames);
			}
			methods++;
		}

		void method(int flags, String method, String type, int stack, int locals, Code c, String... handlers)
			throws IOException {
			method(flags, method, type, stack, locals, c, handlers, 0, null);
		}

		/** main(): prints what name(n) returns. */
		Code print(Code c, String method, int n) throws IOException {
			return c.op2(GETSTATIC, pool.ref(9, "java/lang/System", "out", "Ljava/io/PrintStream;")).op2(SIPUSH, n)
				.op2(INVOKESTATIC, pool.ref(10, name, method, "(I)I"))
				.op2(INVOKEVIRTUAL, pool.ref(10, "java/io/PrintStream", "println", "(I)V"));
		}

		void write(String folder) throws IOException {
			int self = pool.type(name), above = pool.type(parent);
			try (DataOutputStream o = new DataOutputStream(Files.newOutputStream(Paths.get(folder, name + ".class")))) {
				o.writeInt(0xcafebabe);
				o.writeInt(version);
				o.writeShort(pool.nr);
				pool.bytes.writeTo(o);
				o.writeShort(0x21);
				o.writeShort(self);
				o.writeShort(above);
				o.writeInt(0);
				o.writeShort(methods);
				bytes.writeTo(o);
				o.writeShort(0);
			}
		}
	}

	static void old(String folder) throws IOException {
		Type t = new Type("Old", "java/lang/Object", 45);
		Code main = new Code();

		// local 1 = n; twice through the subroutine that adds one; 100 when there is an exception
		t.method(9, "near", "(I)I", 2, 3, new Code().op(ILOAD_0, ISTORE_1).label("a").jump(JSR, "sub").jump(JSR, "sub")
			.op(ILOAD_1, IRETURN).label("b").op(ASTORE_2).op2(SIPUSH, 100).op(IRETURN)
			.label("sub").op(ASTORE_2, IINC, 1, 1, RET, 2), "a", "b", "b");
		// the same from afar: 2900 * 11 bytes and as many returns lie between
		t.method(9, "far", "(I)I", 2, 3, new Code().op(ILOAD_0, ISTORE_1).jump(JSR, "sub").jump(GOTO, "end").fill(2900)
			.label("end").op(ILOAD_1, IRETURN).label("sub").op(ASTORE_2, IINC, 1, 1, RET, 2));
		// a loop that is too long to jump back; leaves by an "if" that is too long, too
		t.method(9, "loop", "(I)I", 2, 3, new Code().op(ILOAD_0, ISTORE_1).label("top").op(ILOAD_1).jump(IFLE, "out").fill(2900)
			.op(IINC, 1, 0xfe).jump(GOTO, "top").label("out").op(ILOAD_1, IRETURN));
		t.method(9, "wide", "(I)I", 2, 300, new Code().op(ILOAD_0, WIDE, 0x36, 1, 0).jump(JSR_W, "sub").op(WIDE, 0x15, 1, 0)
			.jump(GOTO_W, "end").label("sub").op(WIDE, 0x3a, 1, 1, WIDE, IINC, 1, 0, 1, 0, WIDE, RET, 1, 1)
			.label("end").op(IRETURN));
		Code last = new Code().jump(GOTO, "switch").label("end").op(ILOAD_0, IRETURN).label("switch").op(ILOAD_0, LOOKUPSWITCH);
		int at = last.len - 1;
		while (last.len % 4 != 0)
			last.op(0);
		int d = last.at("end") - at;
		t.method(9, "last", "(I)I", 2, 1, last.op(d >> 24, d >> 16, d >> 8, d, 0, 0, 0, 0));
		for (String m : new String[] { "near", "far", "loop", "wide", "last" })
			t.print(main, m, 5);
		t.method(9, "main", "([Ljava/lang/String;)V", 3, 1, main.op(RETURN));
		t.write(folder);
	}

	static void twin(String folder) throws IOException {
		Type t = new Type("Twin", "java/lang/Object", 52);
		Code main = new Code();
		int init = t.pool.ref(10, "java/lang/Object", "<init>", "()V"), twin = t.pool.ref(10, "Twin", "<init>", "(I)V");
		int self = t.pool.type("Twin"), error = t.pool.type("java/lang/Error"), any = t.pool.type("java/lang/Throwable");
		int thrown = t.pool.ref(10, "java/lang/Error", "<init>", "()V");

		// if (n == 0) super(); else super(); and the second one stands behind a return
		t.method(1, "<init>", "(I)V", 2, 2, new Code().op(ILOAD_1).jump(IFEQ, "zero").jump(GOTO, "other")
			.label("zero").op(ALOAD_0).op2(INVOKESPECIAL, init).op(RETURN)
			.label("other").op(ALOAD_0).op2(INVOKESPECIAL, init).op(RETURN), new String[0], 2,
			new byte[] { 7, (byte) 255, 0, 4, 0, 2, 6, 1, 0, 0 });
		// try { new Twin(n); throw new Error(); } catch (any) { new Error() on top of what was caught; throw }
		Code c = new Code().label("a").op2(NEW, self).op(DUP, ILOAD_0).op2(INVOKESPECIAL, twin).op(POP)
			.op2(NEW, error).op(DUP).op2(INVOKESPECIAL, thrown).op(ATHROW)
			.label("b").op2(NEW, error).op(DUP).op2(INVOKESPECIAL, thrown).op(ATHROW);
		t.method(9, "fails", "(I)I", 3, 1, c, new String[] { "a", "b", "b" }, 1,
			new byte[] { 64 + 17, 7, (byte) (any >> 8), (byte) any });
		c = new Code().label("a").op(ILOAD_0).op2(INVOKESTATIC, t.pool.ref(10, "Twin", "fails", "(I)I")).op(IRETURN)
			.label("b").op(POP, ILOAD_0, IRETURN);
		t.method(9, "works", "(I)I", 2, 1, c, new String[] { "a", "b", "b" }, 1,
			new byte[] { 64 + 5, 7, (byte) (any >> 8), (byte) any });
		t.print(main, "works", 0);
		t.print(main, "works", 8);
		t.method(9, "main", "([Ljava/lang/String;)V", 3, 1, main.op(RETURN));
		t.write(folder);
	}

	public static void main(String[] args) throws IOException {
		old(args[0]);
		twin(args[0]);
	}
}
