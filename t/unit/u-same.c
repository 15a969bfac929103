// SPDX-License-Identifier: GPL-2.0-or-later
/* u-same.c - names of one run and of another. */
#include <string.h>

#include "base/mem.h"
#include "model/same.h"
#include "unit.h"

static const struct {
	uint32_t kind;
	const char *name, *same;
} names[] = {
	{ CONSUMER_JAVA, "Main$$Lambda/0x00007f0124001400.run", "Main$$Lambda.run" },
	{ CONSUMER_JAVA, "Main$$Lambda$14/0x0000000800c03000.run", "Main$$Lambda.run" },
	{ CONSUMER_JAVA, "Main$$Lambda$14/1234567.run", "Main$$Lambda.run" },
	{ CONSUMER_JAVA, "Main$$Lambda$14.run", "Main$$Lambda.run" },
	{ CONSUMER_JAVA_INLINED, "java.lang.invoke.LambdaForm$DMH/0x00007f01.invokeStatic",
	  "java.lang.invoke.LambdaForm$DMH.invokeStatic" },
	{ CONSUMER_JAVA, "a.Hidden+0x0000000800c03000.x(I)V", "a.Hidden.x(I)V" },
	{ CONSUMER_JAVA, "jdk.internal.reflect.GeneratedMethodAccessor12.invoke",
	  "jdk.internal.reflect.GeneratedMethodAccessor*.invoke" },
	{ CONSUMER_JAVA, "jdk.proxy2.$Proxy7.close", "jdk.proxy*.$Proxy*.close" },
	{ CONSUMER_JAVA, "com.sun.proxy.$Proxy7.close", "com.sun.proxy.$Proxy*.close" },
	{ CONSUMER_JAVA, "a.B$$EnhancerByCGLIB$$1a2b3c4d.m", "a.B$$EnhancerByCGLIB$$*.m" },
	{ CONSUMER_FOLDED, "Main$$Lambda/0x00007f0124001400", "Main$$Lambda" },
	{ CONSUMER_ANY, "GET /0x1f", "GET " },
	{ CONSUMER_ANY, "GET /17", "GET /17" },
	{ CONSUMER_JAVA, "Main.lambda$run$3", "Main.lambda$run$3" },
	{ CONSUMER_JAVA, "Main$1.run", "Main$1.run" },
	{ CONSUMER_JAVA, "a.$Proxy7s.x", "a.$Proxy7s.x" },
	{ CONSUMER_NATIVE, "f.constprop.0.isra.3", "f" },
	{ CONSUMER_NATIVE, "f(int) [clone .cold]", "f(int)" },
	{ CONSUMER_NATIVE, "a::b::h0123456789abcdef", "a::b" },
	{ CONSUMER_NATIVE, "f.cold::h0123456789abcdef", "f" },
	{ CONSUMER_NATIVE, "f.colder", "f.colder" },
	{ CONSUMER_NATIVE, ".cold", ".cold" },
	{ CONSUMER_KERNEL, "schedule.part.0", "schedule" },
	{ CONSUMER_UNRESOLVED, "[unknown in libz.so.1.2.13]", "[unknown in libz.so]" },
	{ CONSUMER_UNRESOLVED, "libz.so+0x12", "libz.so+0x12" },
	{ CONSUMER_THREAD, "GC Thread#3", "GC Thread#3" },
	{ CONSUMER_MARK, "[no user stack]", "[no user stack]" },
	{ CONSUMER_STUB, "", "" },
};

static const struct {
	const char *path, *same;
} modules[] = {
	{ "/usr/lib/x86_64-linux-gnu/libz.so.1.2.13", "libz.so" },
	{ "/tmp/libnetty_tcnative_linux_x86_6412345678901234567.so", "libnetty_tcnative_linux_x86_*.so" },
	{ "/tmp/a.out (deleted)", "a.out" },
	{ "[kernel.kallsyms]", "[kernel.kallsyms]" },
	{ "/opt/dir/", "dir" },
	{ "/etc/ld.so.conf.d/prog", "prog" },
	{ "", "" },
};

TEST(same_names_are_without_what_a_run_gives_them)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		same_name(names[i].name, names[i].kind, &b);
		CHECK_STR(b.data, names[i].same);
	}
	for (i = 0; i < ARRAY_SIZE(modules); i++) {
		same_module(modules[i].path, &b);
		CHECK_STR(b.data, modules[i].same);
	}
	buf_release(&b);
}

/* What frameworks made up of one class in two runs: recognised by shape, so none of them need be known. */
TEST(same_names_are_those_of_one_class_in_two_runs)
{
	static const char *const pairs[][2] = {
		{ "a.M$$Lambda+0x00007f1c3c003000.run", "a.M$$Lambda$9/0x0000000801003400.run" },
		{ "a.M$$Lambda.0x00007f1c3c003000.run", "a.M$$Lambda/0x00007f9d10003000.run" },
		{ "jdk.internal.reflect.GeneratedConstructorAccessor1.newInstance",
		  "jdk.internal.reflect.GeneratedConstructorAccessor19.newInstance" },
		{ "a.Shop$$EnhancerBySpringCGLIB$$1a2b3c4d.buy", "a.Shop$$EnhancerBySpringCGLIB$$9f8e7d.buy" },
		{ "a.Shop$$FastClassBySpringCGLIB$$3c4d5e6f.invoke", "a.Shop$$FastClassBySpringCGLIB$$deadbeef.invoke" },
		{ "a.Shop$$SpringCGLIB$$0.buy", "a.Shop$$SpringCGLIB$$17.buy" },
		{ "a.Shop$$EnhancerByGuice$$12345678.buy", "a.Shop$$EnhancerByGuice$$87654321.buy" },
		{ "a.Shop$ByteBuddy$aZ3kQ9xW.buy", "a.Shop$ByteBuddy$Qq81LmPd.buy" },
		{ "a.Order$HibernateProxy$QzkLmPwX.getId", "a.Order$HibernateProxy$T5vRw1Zb.getId" },
		{ "a.Shop$auxiliary$8JkLq2Wz.call", "a.Shop$auxiliary$p0OiUy7T.call" },
		{ "a.Order_$$_jvst5a2_0.getId", "a.Order_$$_jvst7f1_1c.getId" },
		{ "a.Shop$MockitoMock$1849201180.buy", "a.Shop$MockitoMock$302850943.buy" },
		{ "script1600000000000123.run", "script1600000111111123.run" },
		{ "user$eval1234$fn__5678.invoke", "user$eval77$fn__81234.invoke" },
		{ "my.ns$reify__3321.get", "my.ns$reify__45.get" },
		{ "io.x.PageFilter_20230101_123456_00012_abcde_1.filter", "io.x.PageFilter_20240202_654321_00312_fghij_7.filter" },
		{ "Rule_f81d4fae_7dec_11d0_a765_00a0c91e6bf6.eval", "Rule_11111111_2222_3333_4444_0123456789ab.eval" },
		{ "I2C/C2I adapters(0xbaa)", "I2C/C2I adapters(0xb0a)" },
	};
	struct buf x = BUF_INIT, y = BUF_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		same_name(pairs[i][0], CONSUMER_JAVA, &x);
		same_name(pairs[i][1], CONSUMER_JAVA, &y);
		CHECK_STR(x.data, y.data);
		same_name(pairs[i][0], CONSUMER_ANY, &x);	/* as a profile of another program has it */
		same_name(pairs[i][1], CONSUMER_ANY, &y);
		CHECK_STR(x.data, y.data);
	}
	buf_release(&x);
	buf_release(&y);
}

TEST(same_names_keep_what_a_source_says)
{
	static const char *const list[] = {
		"Main.lambda$main$0", "Main$1.run", "MainKt$load$2$1.invokeSuspend", "Script1$_run_closure2.doCall",
		"Main$.$anonfun$main$1", "a.Vector2.add", "java.util.Base64.encode", "sun.security.provider.SHA512.digest",
		"java.lang.invoke.DirectMethodHandle$Holder.invokeStatic", "a.Http2Stream.read", "Outer$InnerClass.get",
		"it.unimi.Int2LongMap.get", "Cache$EvictionPolicy.run", "x_Utf16Decoder.go", "Foo$HtmlXmlParser.go",
		"Load.access$100", "a.Order$JoinColumnXmlId.get", "a.JsonAdapter2.read", "Script1.run",
		"a.Outer$Inner$HttpTls5.go", "a.B$$Outer$$add.m", "a.Cafe$Babe$Deadbeef.x", "foo__12", "a.Foo$Bar$Utf8Gb18.x",
	};
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(list); i++) {
		same_name(list[i], CONSUMER_JAVA, &b);
		CHECK_STR(b.data, list[i]);
	}
	buf_release(&b);
}

/* Of pieces that mean something: what was left out once leaves nothing more to leave out. */
TEST(same_names_stay_when_they_are_made_again)
{
	static const char *const pieces[] = { "$$Lambda", "$$Lambda$", "/0x", "+0x", "/", "1", "12ab", ".", "$Proxy",
		"jdk.proxy", "GeneratedMethodAccessor", "ByCGLIB$$", "a$$X$$", "$Word$", "aZ3kQ9xW", "__", "_$$_a1_1", "::h0123456789abcdef", ".cold", " [clone ", "x",
		".so.", " (deleted)", "123456", "[unknown in ", "]", " " };
	struct buf text = BUF_INIT, once = BUF_INIT, twice = BUF_INIT;
	unsigned int i, k;

	for (i = 0; i < 20000; i++) {
		uint32_t kind = unit_random() % CONSUMER_NR;

		buf_reset(&text);
		buf_str(&text, "");
		for (k = unit_random() % 8; k--;)
			buf_str(&text, pieces[unit_random() % ARRAY_SIZE(pieces)]);
		same_name(text.data, kind, &once);
		same_name(once.data, kind, &twice);
		CHECK_STR(twice.data, once.data);
		same_module(text.data, &once);
		same_module(once.data, &twice);
		CHECK_STR(twice.data, once.data);
	}
	buf_release(&text);
	buf_release(&once);
	buf_release(&twice);
}

static uint32_t add(struct model *m, uint32_t kind, const char *name, uint64_t key)
{
	struct consumer c = { .kind = kind, .name = strtab_adds(&m->consumers.names, name), .key = key };

	return consumer_add(&m->consumers, &c);
}

static bool same(const struct same_opts *o, struct model *m, uint32_t a, uint32_t b)
{
	struct consumer x, y;

	same_identify(o, m, a, &m->consumers.names, &x);
	same_identify(o, m, b, &m->consumers.names, &y);
	return x.name == y.name && x.module == y.module && x.detail == y.detail && x.kind == y.kind &&
	       x.key == y.key;
}

TEST(same_consumers_differ_in_what_is_asked_for)
{
	const struct same_opts none = { 0 }, pids = { .pids = true }, tids = { .pids = true, .tids = true },
			       digits = { .thread_digits = true }, kinds = { .kinds = true };
	struct model m;
	uint32_t p, q, t, u, v, f, g, h;

	model_init(&m, 1, FLOW_SAMPLES);
	p = add(&m, CONSUMER_PROCESS, "java", 1ull << 32);
	q = add(&m, CONSUMER_PROCESS, "java", 2ull << 32);
	t = add(&m, CONSUMER_THREAD, "worker-1", 1ull << 32 | 5);
	u = add(&m, CONSUMER_THREAD, "worker-1", 1ull << 32 | 6);
	v = add(&m, CONSUMER_THREAD, "worker-12", 2ull << 32 | 6);
	f = add(&m, CONSUMER_JAVA_COMPILED, "main", 0);
	g = add(&m, CONSUMER_JAVA_INLINED, "main", 0);
	h = add(&m, CONSUMER_NATIVE, "main", 0);
	CHECK(same(NULL, &m, p, q) && same(&none, &m, t, u) && same(&none, &m, f, g));
	CHECK(!same(&none, &m, u, v) && !same(&none, &m, f, h) && !same(&none, &m, p, t));
	CHECK(!same(&pids, &m, p, q) && same(&pids, &m, t, u) && !same(&tids, &m, t, u));
	CHECK(same(&digits, &m, u, v));
	CHECK(!same(&kinds, &m, f, g));
	model_release(&m);
}
