// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/mem.h"
#include "sym/demangle.h"
#include "unit.h"

static const struct { const char *name, *want; } names[] = {
	{ "main", "main" },
	{ "", "" },
	{ "_Z", "_Z" },
	{ "_R", "_R" },
	{ "_ZN", "_ZN" },
	{ "memcpy@plt", "memcpy@plt" },
	{ "_ZNSt6vectorIiSaIiEE9push_backEOi",
	  "std::vector<int, std::allocator<int> >::push_back(int&&)" },
	/* Templates of characters have the names that programs use; others are left as they are. */
	{ "_ZN3App4saveERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", "App::save(std::string const&)" },
	{ "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm",
	  "std::string::_M_append(char const*, unsigned long)" },
	{ "_ZlsRSoRKNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEE",
	  "operator<<(std::ostream&, std::ostringstream const&)" },
	{ "_Z1fRSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS5_EE",
	  "f(std::vector<std::string, std::allocator<std::string> >&)" },
	{ "_Z1fSt17basic_string_viewIcSt11char_traitsIcEE", "f(std::string_view)" },
	{ "_Z1fNSt3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEEE", "f(std::string)" },
	{ "_Z1fNSt7__cxx1112basic_stringIwSt11char_traitsIwESaIwEEE",
	  "f(std::__cxx11::basic_string<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >)" },
	{ "_ZN3foo3barEv@plt", "foo::bar()@plt" },
	{ "_ZN3foo3barEv@@LIB_1.2", "foo::bar()@@LIB_1.2" },
	{ "_ZN3foo3barEv.constprop.0", "foo::bar() [clone .constprop.0]" },
	{ "_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo()" },
	{ "_ZN3std2rt10lang_start17h0123456789abcdefE", "std::rt::lang_start" },
	{ "_ZN3std2rt10lang_start17h0123456789abcdefE.llvm.1234", "std::rt::lang_start" },
	{ "_ZN4core3ptr85drop_in_place$LT$std..rt..lang_start$LT$$LP$$RP$$GT$..$u7b$$u7b$closure$u7d$$u7d$$GT$17h0123456789abcdefE",
	  "core::ptr::drop_in_place<std::rt::lang_start<()>::{{closure}}>" },
	{ "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h0123456789abcdefE",
	  "<Test + 'static as foo::Bar<Test>>::bar" },
	/* Not Rust: the last element is not a hash. */
	{ "_ZN3foo17h1111111111111111E", "foo::h1111111111111111" },
	/* From the RFC and the compiler's own tests. */
	{ "_RNvC6_123foo3bar", "123foo::bar" },
	{ "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
	  "utf8_idents::\xe1\x83\xa1\xe1\x83\x90\xe1\x83\xad\xe1\x83\x9b\xe1\x83\x94\xe1\x83\x9a\xe1\x83\x90\xe1\x83\x93_\xe1\x83\x92\xe1\x83\x94\xe1\x83\x9b\xe1\x83\xa0\xe1\x83\x98\xe1\x83\x94\xe1\x83\x9a\xe1\x83\x98_\xe1\x83\xa1\xe1\x83\x90\xe1\x83\x93\xe1\x83\x98\xe1\x83\x9a\xe1\x83\x98" },
	{ "_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}" },
	{ "_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8iterator8Iterator9rpositionNCNgNpB9_6memchr7memrchrs_0E0Bb_",
	  "<core::slice::Iter<u8> as core::iter::iterator::Iterator>::rposition::<core::slice::memchr::memrchr::{closure#1}>::{closure#0}" },
	{ "_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_ECs1iopQbuBiw2_3std",
	  "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>" },
	{ "_RNvMC0INtC8arrayvec8ArrayVechKj7b_E3new", "<arrayvec::ArrayVec<u8, 123>>::new" },
	{ "_RMC0INtC8arrayvec8ArrayVecKan80_E", "<arrayvec::ArrayVec<-128>>" },
	{ "_RMC0INtC8arrayvec8ArrayVecKb1_E", "<arrayvec::ArrayVec<true>>" },
	{ "_RMC0INtC8arrayvec8ArrayVecKc76_E", "<arrayvec::ArrayVec<'v'>>" },
	{ "_RMC0INtC8arrayvec8ArrayVecKca_E", "<arrayvec::ArrayVec<'\\n'>>" },
	{ "_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKc2202_E", "<const_generic::Char<'\xe2\x88\x82'>>" },
	{ "_RMC0FUKCiEu", "<unsafe extern \"C\" fn(isize)>" },
	{ "_RIC1aRe.llvm.9D1C9369@@16", "_RIC1aRe.llvm.9D1C9369@@16" },
	/* D: of gdc, as binutils shows them but for types of functions. */
	{ "_Dmain", "D main" },
	{ "_D", "_D" },
	{ "_D2d11C2goMFMDFiZiKiJiLiZi", "d1.C.go(scope int delegate(int), ref int, out int, lazy int)" },
	{ "_D2d1__T4tmplVSQn1SS2i1a3_68690aVEQBg1Ei1VdeN0CP1TiTAyaTHiQgZQCbFNfiQqQoZv",
	  "d1.tmpl!(d1.S(1, \"hi?\"), 1, -0x0.Cp1, int, immutable(char)[], immutable(char)[][int]).tmpl(int, immutable(char)[], immutable(char)[][int])" },
	{ "_D2d1__T5applySQn4mainFAAyaZ10__lambda13VQra6_6865206c6c6fViN3Vbi1Vai120ZQCnMFNaNbNiNfPFiYiG4iPAiZi",
	  "d1.apply!(d1.main(immutable(char)[][]).__lambda13, \"he llo\", -3, true, 'x').apply(int function(int, ...), int[4], int[]*)" },
	{ "_D6object9Throwable6__ctorMFNaNbNiNfAyaCQBmQBiZQi",
	  "object.Throwable.this(immutable(char)[], object.Throwable)" },
	{ "_D3std6digest3crc__T3CRCVki64VmN2882303761517117440ZQBg4peekMxFNaNbNiNfZG8h",
	  "std.digest.crc.CRC!(64u, -2882303761517117440uL).CRC.peek() const" },
	{ "_D2rt4util5arrayQlZ", "rt.util.array.util" },
	{ "_D2rt4util5arrayQmZ", "_D2rt4util5arrayQmZ" },	/* leads to no name */
	{ "_D3std10functional__T7memoizeS_DQBe5regex__T9regexImplTAyaZQpFNfxAyaAxaZSQCtQBp8internal2ir__T5RegexTaZQjVii8ZQDlFxQByQByZ11initializedAm",
	  "std.functional.memoize!(std.regex.regexImpl!(immutable(char)[]).regexImpl(const(immutable(char)[]), const(char)[]), 8).memoize(const(immutable(char)[]), const(char)[]).initialized" },
	{ "_D2d15nestsFiZ5innerMFZv.part.0", "d1.nests(int).inner() [clone .part.0]" },
	{ "camlStdlib__List__map_236", "Stdlib.List.map" },
	{ "camlStdlib__List.map_236", "Stdlib.List.map" },
	{ "camlO__f$27_89", "O.f'" },
	{ "camlO__$2b$21_84", "O.+!" },
	{ "camlO__fun_222", "O.fun_222" },
	{ "camlO__entry", "O.entry" },
	{ "caml_main", "caml_main" },
	{ "camlQuery", "camlQuery" },
	{ "__my_mod_MOD_work", "my_mod::work" },
	{ "__MOD_x", "__MOD_x" },
};

TEST(demangle_names_of_each_language)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		buf_reset(&b);
		demangle(names[i].name, &b);
		CHECK_STR(b.data ? b.data : "", names[i].want);
	}
	buf_release(&b);
}

TEST(demangle_appends_and_leaves_what_was_there)
{
	struct buf b = BUF_INIT;

	buf_str(&b, "at ");
	demangle("_ZN3fooE1", &b);
	buf_str(&b, ", ");
	demangle("_RNvC3foo3bar", &b);
	CHECK_STR(b.data, "at _ZN3fooE1, foo::bar");
	buf_release(&b);
}

TEST(demangle_bears_every_truncation_and_change_of_a_byte)
{
	struct buf b = BUF_INIT;
	char name[512];
	size_t i, j, len;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		len = strlen(names[i].name);
		for (j = 0; j < len; j++) {
			memcpy(name, names[i].name, len + 1);
			name[j] = '\0';
			buf_reset(&b);
			demangle(name, &b);
			memcpy(name, names[i].name, len + 1);
			name[j] = (char)(33 + unit_random() % 94);
			buf_reset(&b);
			demangle(name, &b);
		}
	}
	buf_release(&b);
	CHECK(true);
}

/* head, then n times middle, then tail. */
static void check_bounded(const char *head, const char *middle, size_t n, const char *tail)
{
	struct buf name = BUF_INIT, out = BUF_INIT;
	size_t i;

	buf_str(&name, head);
	for (i = 0; i < n; i++)
		buf_str(&name, middle);
	buf_str(&name, tail);
	demangle(name.data, &out);
	CHECK(out.len <= name.len + (1 << 17));
	buf_release(&name);
	buf_release(&out);
}

TEST(demangle_of_hostile_names_is_bounded)
{
	check_bounded("_RMC0", "R", 100000, "u");		/* deep */
	check_bounded("_RMC0", "F", 100000, "u");
	check_bounded("_RMC0", "TTTT", 50000, "u");
	check_bounded("_RIC1a", "TB3_B3_B3_B3_", 3000, "E");	/* references to references */
	check_bounded("_RIC1aTuuuuE", "TB5_B5_E", 3000, "E");
	check_bounded("_RMC0FG99999999999_", "", 0, "Eu");
	check_bounded("_Z1f", "P", 100000, "i");
	check_bounded("_Z1fI", "S_", 5000, "E");
	check_bounded("_ZN", "1a", 50000, "17h0123456789abcdefE");
	check_bounded("_Z1fSt4pairIiiE", "S0_IS0_S0_E", 200, "");
	check_bounded("_RNvC1au", "9999999999999999999999", 1, "a");
	check_bounded("_D1aF", "P", 100000, "iZv");
	check_bounded("_D1aF", "H", 100000, "iZv");		/* each level is read twice */
	check_bounded("_D1aF", "PF", 100000, "iZv");
	check_bounded("_D1aFHiH", "HQb", 5000, "iZv");
	check_bounded("_D1aFB4iiiiB4QkQkQkQk", "B4QkQkQkQk", 3000, "Zv");
	check_bounded("_D", "1aQc", 5000, "Z");
	check_bounded("_D", "__T1aS", 50000, "Z");
	check_bounded("_D", "99999999999999999999999", 1, "a");
}
