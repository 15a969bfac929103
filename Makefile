# Define DEVELOPER=1 to turn warnings into errors (config.mak.dev).
# Define SANITIZE=address,undefined to build with sanitizers (in build/san, dynamic).
# Define FUZZER=1 to build libFuzzer targets with clang (in build/fuzz); see "make fuzz".
# Define ARCH=arm64 to build for that CPU on another one (in build/arm64; "t/install arm64" first).
# Define JAVA_HOME=<dir> to take the JVMTI headers from that JDK.
# Define prefix=<dir> and DESTDIR=<dir> to say where "make install" puts things.
# Define STRIP= to install the binary with its symbols.
# Define V=1 to see the commands.

prefix ?= /usr/local
bindir = $(prefix)/bin
libdir = $(prefix)/lib
includedir = $(prefix)/include
pythondir = $(prefix)/lib/python3/dist-packages
datadir = $(prefix)/share
mandir = $(datadir)/man
docdir = $(datadir)/doc/arcprof
unitdir = $(prefix)/lib/systemd/system
CC = gcc
INSTALL = install
STRIP = $(CROSS_COMPILE)strip
ASCIIDOCTOR = asciidoctor
CFLAGS ?= -O2 -g
BUILD = build
Q = $(if $(V),,@)
say = $(if $(V),,@echo "  $(1) $@";)

WARNINGS = -Wall -Wextra -Wshadow -Wvla -Wmissing-prototypes -Wno-unused-parameter -Wno-missing-field-initializers
-include $(if $(DEVELOPER),config.mak.dev)

BASE_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -Ilib -Icmd -Ikmod -I$(BUILD)
# elfutils 0.192 needs zstd, and search trees of its own that Debian 13 leaves out of its static libraries: the linker
# takes these from libeu.a only if nothing before has them.
ZSTD = $(if $(wildcard $(shell $(CC) -print-file-name=libzstd.a 2>/dev/null) $(CROSS_LIBS)/libzstd.a),-lzstd)
# With its header, debug sections that it has compressed are read, too.
BASE_CFLAGS += $(if $(ZSTD),$(if $(wildcard $(CROSS_ROOT)/usr/include/zstd.h),-DHAVE_ZSTD))
# The browser in a terminal (lib/terminal) draws with ncurses; without that it says so.
NCURSES = $(if $(wildcard $(shell $(CC) -print-file-name=libncursesw.a 2>/dev/null) $(CROSS_LIBS)/libncursesw.a),-lncursesw $(TINFO))
# Some distributions have this part of it in a library of its own.
TINFO = $(if $(wildcard $(shell $(CC) -print-file-name=libtinfo.a 2>/dev/null) $(CROSS_LIBS)/libtinfo.a),-ltinfo)
BASE_CFLAGS += $(if $(NCURSES),$(if $(wildcard $(CROSS_ROOT)/usr/include/curses.h),-DHAVE_NCURSES))
LDLIBS_STATIC = -lsqlite3 -lbpf -ldw -lelf $(BUILD)/libeu.a -lz -lbz2 -llzma $(ZSTD) $(NCURSES) -lcap $(shell $(CC) -print-file-name=libsupc++.a 2>/dev/null) -lgcc_eh -lm -pthread
# libdw would load the host's libdebuginfod, and with it a second libc, SQLite extensions (lib/base/dlstub.c).
NO_DLOPEN = -Wl,-u,__wrap_dlopen,--wrap=dlopen,--wrap=dlsym,--wrap=dlclose,--wrap=dlerror
# The tables of options and rows have 11 thousand addresses: packed, they are 4 kB and not 270.
LINK = -static-pie -Wl,-z,pack-relative-relocs
PIE = -fPIE

ifdef SANITIZE
BUILD = build/san
LINK = -pie -fsanitize=$(SANITIZE)
BASE_CFLAGS += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -DSANITIZED
endif
ifdef FUZZER
BUILD = build/fuzz
CC = clang
# functions and lines are all that a sanitizer's report has, and compiling for speed costs more than it gains
CFLAGS = -O0 -gline-tables-only
LINK = -pie -fsanitize=fuzzer-no-link,address,undefined $(if $(shell command -v ld.lld),-fuse-ld=lld)
BASE_CFLAGS += -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer -DSANITIZED
# What is found ends the program, which is less to compile than to go on.
BASE_CFLAGS += -fno-sanitize-recover=undefined
endif
# A sanitizer's runtime looks functions up by dlsym() itself; libdw is a shared library then.
ifneq ($(SANITIZE)$(FUZZER),)
NO_DLOPEN =
endif

# The libraries of the other CPU come from its own Debian packages, by t/cross.
ifeq ($(ARCH),arm64)
BUILD = build/arm64
CROSS_COMPILE ?= aarch64-linux-gnu-
CROSS_ROOT = build/arm64-root
CC = $(CROSS_COMPILE)gcc
BASE_CFLAGS += -isystem $(CROSS_ROOT)/usr/include
CROSS_LIBS = $(CROSS_ROOT)/usr/lib/aarch64-linux-gnu
LDFLAGS += -L$(CROSS_LIBS)
EMULATOR = qemu-aarch64			# "t/install arm64" has it
NEEDS = | $(CROSS_ROOT)/complete
endif

# What runs inside other people's processes and inside the kernel is built apart (their Makefile.inc).
APART = lib/base/eusearch.c lib/reader/nofiles.c lib/agent/% lib/preload/% lib/hookit/% lib/calibrate/trainer% lib/ptt/bpf/% \
	lib/wall/bpf/% lib/cpuclock/bpf/% lib/api/jni/% lib/outside/walker.c lib/outside/far.c lib/outside/x86/%
LIB_SRC = $(filter-out $(APART), $(wildcard lib/*/*.c lib/*/*/*.c))
CMD_SRC = $(wildcard cmd/*.c)
LIB_OBJ = $(LIB_SRC:%.c=$(BUILD)/%.o)
CMD_OBJ = $(CMD_SRC:%.c=$(BUILD)/%.o)
DEPS = $(LIB_OBJ:.o=.d) $(CMD_OBJ:.o=.d) $(BUILD)/arcprof.d $(BUILD)/lib/base/eusearch.d

all: $(BUILD)/arcprof	# and more of what is installed: share/Makefile.inc

-include $(sort $(wildcard lib/*/Makefile.inc)) t/Makefile.inc Documentation/Makefile.inc share/Makefile.inc
-include $(DEPS)

$(BUILD)/arcprof: $(BUILD)/arcprof.o $(CMD_OBJ) $(BUILD)/libarcprof-core.a $(EXTRA_OBJ)
	$(call say,LD)$(CC) $(LINK) $(CFLAGS) $(LDFLAGS) -o $@ $(BUILD)/arcprof.o $(CMD_OBJ) $(EXTRA_OBJ) \
		$(BUILD)/libarcprof-core.a $(NO_DLOPEN) $(LDLIBS_STATIC)

$(BUILD)/libarcprof-core.a: $(LIB_OBJ) | $(BUILD)/libeu.a
	$(call say,AR)rm -f $@ && ar rcs $@ $^

$(BUILD)/libeu.a: $(BUILD)/lib/base/eusearch.o
	$(call say,AR)rm -f $@ && ar rcs $@ $^

$(BUILD)/%.o: %.c $(NEEDS)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(BASE_CFLAGS) $(CFLAGS) $(PIE) -MMD -MP -c -o $@ $<

# What is missing is said before anything is built; goals that build nothing, or install what they need, do not ask.
ASK_NOTHING = clean uninstall check check-arm64 check-vm check-layers quickstart stats kmod kmod-install
ifneq ($(filter-out $(ASK_NOTHING),$(or $(MAKECMDGOALS),all)),)
include $(BUILD)/needs.mk
endif
$(BUILD)/needs.mk: t/needs t/packages
	@mkdir -p $(@D)
	@CC='$(CC)' CFLAGS='$(CFLAGS)' LINK='$(LINK) $(LDFLAGS)' LDLIBS='$(filter-out $(BUILD)/libeu.a,$(LDLIBS_STATIC))' BPF_CLANG='$(BPF_CLANG)' JVMTI='$(AGENT_JDK)' \
		t/needs build $(ARCH) $(if $(FUZZER),fuzz) >$@

# $(call need,<command>): for what few goals need.
need = @command -v $(1) >/dev/null || { p=$$(awk -v c='$(1)' '$$3 == c { print $$2; exit }' t/packages); \
	echo "make $@: $(1) is not installed$${p:+ (Debian has it in $$p)}" >&2; exit 1; }

$(CROSS_ROOT)/complete: t/packages t/cross
	t/cross $(ARCH) $(@D)

# Written only when it changed, so that an unchanged version rebuilds nothing.
$(BUILD)/version.h: FORCE
	@mkdir -p $(@D)
	@sh ./GIT-VERSION-GEN $@

VERSIONED = $(shell grep -l '"version.h"' arcprof.c cmd/*.c lib/*/*.c lib/*/*/*.c)
$(VERSIONED:%.c=$(BUILD)/%.o): $(BUILD)/version.h

clean:
	rm -rf build

FORCE:
.DELETE_ON_ERROR:
.PHONY: all clean FORCE
