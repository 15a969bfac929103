// SPDX-License-Identifier: GPL-2.0-or-later
/* u-resident.c - texts of the kernel and of JVMs about memory, and who gets which addresses. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "resident/hotspot.h"
#include "resident/smaps.h"
#include "unit.h"

/* "start-end part name", one after the other. */
static void check_claims(struct claims *c, const char *want)
{
	struct buf b = BUF_INIT;
	size_t i;

	buf_str(&b, "");
	for (i = 0; i < c->nr; i++)
		buf_fmt(&b, "%s%" PRIx64 "-%" PRIx64 " %d%s%s", i ? ", " : "", c->items[i].start,
			c->items[i].end, c->items[i].part, *c->items[i].name ? " " : "", c->items[i].name);
	CHECK_STR(b.data, want);
	buf_release(&b);
	claims_release(c);
}

TEST(resident_the_first_claim_keeps_addresses)
{
	struct claims c = { 0 };

	claims_add(&c, 0x3000, 0x4000, RESIDENT_HEAP, "a");
	claims_add(&c, 0x1000, 0x6000, RESIDENT_MALLOC, "b");
	claims_add(&c, 0x0, 0x9000, RESIDENT_CODE, "");
	claims_add(&c, 0x2000, 0x2000, RESIDENT_GC, "nothing");
	claims_add(&c, 0x5000, 0x4000, RESIDENT_GC, "backwards");
	CHECK_U64(claims_from(&c, 0x3fff), 2);
	CHECK_U64(claims_from(&c, 0x9000), c.nr);
	check_claims(&c, "0-1000 5, 1000-3000 9 b, 3000-4000 0 a, 4000-6000 9 b, 6000-9000 5");
}

TEST(resident_smaps_of_the_kernel)
{
	char text[] =
		"55e856933000-55e856934000 r-xp 00002000 fe:00 317697                     /usr/bin/a b (deleted)\n"
		"Size:                  4 kB\nRss:                   4 kB\nPss:                   1 kB\nSwap:                  0 kB\n"
		"VmFlags: rd ex mr mw me sd\n"
		"7f6730000000-7f6734000000 rw-p 00000000 00:00 0 \n"
		"Rss:               60000 kB\nSwapPss:               9 kB\nSwap:                  8 kB\n";
	struct smaps s = { 0 };

	smaps_parse(&s, text);
	CHECK_U64(s.nr, 2);
	CHECK_STR(s.items[0].name, "/usr/bin/a b (deleted)");
	CHECK_STR(s.items[0].perms, "r-xp");
	CHECK_U64(s.items[0].offset, 0x2000);
	CHECK_U64(s.items[0].rss, 4096);
	CHECK_U64(s.items[0].pss, 1024);
	CHECK_STR(s.items[1].name, "");
	CHECK_U64(s.items[1].rss, 60000 << 10);
	CHECK_U64(s.items[1].swap, 8192);
	CHECK(smaps_find(&s, 0x7f6733ffffff) == &s.items[1]);
	CHECK(!smaps_find(&s, 0x7f6734000000));
	smaps_release(&s);
}

TEST(resident_smaps_out_of_order_are_left_out)
{
	char text[] = "2000-3000 rw-p 00000000 00:00 0 \nRss: 4 kB\n1000-2800 rw-p 00000000 00:00 0 \nRss: 8 kB\n"
		      "3000-3000 rw-p 00000000 00:00 0 \nnonsense\n4000-5000 rw-p 00000000 00:00 0 \nRss: 999 kB\n";
	struct smaps s = { 0 };

	smaps_parse(&s, text);
	CHECK_U64(s.nr, 2);
	CHECK_U64(s.items[0].rss, 4096);
	CHECK_U64(s.items[1].start, 0x4000);
	CHECK_U64(s.items[1].rss, 4096);
	smaps_release(&s);
}

TEST(resident_info_of_a_jvm)
{
	struct claims c = { 0 };

	hotspot_info("Heap address: 0x00000000f0000000, size: 256 MB, Compressed Oops mode: 32-bit\n"
		     "CDS archive(s) mapped at: [0x00007f675b000000-0x00007f675bbc7000-0x00007f675bbc7000), size 12349440\n"
		     "Compressed class space mapped at: 0x00007f675c000000-0x00007f679c000000, reserved size: 1073741824\n"
		     "Card table byte_map: [0x00007f67cfb02000,0x00007f67cfb82000] _byte_map_base: 0x00007f67cf382000\n"
		     " Prev Bits: [0x00007f67cf200000, 0x00007f67cf600000)\n"
		     " bounds [0x00007f67b8ec7000, 0x00007f67b9137000, 0x00007f67c0400000]\n"
		     "Polling page: 0x00007f67d19c5000\n", &c);
	check_claims(&c, "f0000000-100000000 0, 7f675b000000-7f675bbc7000 4, 7f675c000000-7f679c000000 3, "
			 "7f67b8ec7000-7f67c0400000 5, 7f67cf200000-7f67cf600000 6 mark bits, "
			 "7f67cfb02000-7f67cfb82000 6 card table, 7f67d19c5000-7f67d19c7000 7 polling page");
	hotspot_info("Heap address: 0xf0000000, size: 99999999999999999999 MB\n bounds [0x2, 0x1, 0x1]\n"
		     "Card table byte_map: [0x1,\nPolling page: \n bounds [", &c);
	check_claims(&c, "0-2000 7 polling page");
}

TEST(resident_metaspace_of_a_jvm)
{
	struct claims c = { 0 };

	hotspot_metaspace("vsl non-class-space:\n"
			  "- node #0: base 0x00007f6757000000: reserved=65536.00 KB, committed=256.00 KB ( <1%)\n"
			  "vsl class-space:\n- node #0: base 0x00007f675c000000: reserved=1.00 GB, committed=128.00 KB\n"
			  "- node #1: base 0x1: reserved=nan KB\n", &c);
	check_claims(&c, "7f6757000000-7f675b000000 2, 7f675c000000-7f679c000000 3");
}

TEST(resident_native_memory_tracking)
{
	struct hotspot_nmt n;
	struct claims c = { 0 };

	hotspot_nmt("Total: reserved=1741197KB, committed=354165KB\n       malloc: 27573KB #7511\n\n"
		    "-                    Thread (reserved=30802KB, committed=1962KB)\n"
		    "                            (thread #30)\n"
		    "                            (stack: reserved=30720KB, committed=1880KB, peak=1912KB)\n"
		    "                            (malloc=49KB #184) (peak=57KB #188) \n"
		    "                            (arena=33KB #58) (peak=96KB #56)\n \n"
		    "-    Native Memory Tracking (reserved=292KB, committed=292KB)\n"
		    "                            (malloc=174KB #2046) (at peak) \n"
		    "                            (tracking overhead=117KB)\n", &n);
	CHECK_U64(n.nr, 2);
	CHECK_STR(n.items[0].name, "Thread");
	CHECK_U64(n.items[0].malloc, (49 + 33) << 10);
	CHECK_U64(n.items[0].mapped, 1880 << 10);
	CHECK_STR(n.items[1].name, "Native Memory Tracking");
	CHECK_U64(n.items[1].malloc, (174 + 117) << 10);
	hotspot_nmt("Native memory tracking is not enabled\n", &n);
	CHECK_U64(n.nr, 0);
	hotspot_regions("[0x00007f67cce00000 - 0x00007f67cee00000] reserved and committed 32768KB for GC from\n"
			"[0x00007f67d1317428] VirtualMemoryTracker::add_reserved_region(unsigned char*)+0x158\n"
			"[0x1000 - 0x2000] reserved 4KB for Some Thing from\n", &c);
	check_claims(&c, "1000-2000 7, 7f67cce00000-7f67cee00000 6");
}

TEST(resident_map_of_the_system)
{
	struct claims c = { 0 };

	hotspot_map("Memory mappings:\n                        GC: GC support data (e.g. bitmaps)\n"
		    "from               to                        vsize prot          rss      hugetlb pgsz notes "
		    "           info                                  file\n"
		    "0x00000000e7000000-0x00000000ea100000     51380224 rw-p     51040256            0 4K   com    "
		    "          JAVAHEAP                              -\n"
		    "0x0000559f3e50f000-0x0000559f3e510000         4096 r--p         4096            0 4K   com    "
		    "          -                                     /usr/lib\n"
		    "0x00007fa9d9400000-0x00007fa9d9404000        16384 ---p            0            0 4K   com    "
		    "          STACK-25484-VirtualThread-unblocker   -\n"
		    "0x00007fa9e0000000-0x00007fa9e0020000 131072 rw-p 0 0 4K com CARDTBL -\n"
		    "0x00007fa9f0000000-0x00007fa9f0020000 131072 rw-p 0 0 4K -   GC -\n0x1-0x2 1", &c);
	check_claims(&c, "e7000000-ea100000 0, 7fa9e0000000-7fa9e0020000 6, 7fa9f0000000-7fa9f0020000 6");
}
