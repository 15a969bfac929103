# Define DEVELOPER=1 to turn warnings into errors.
# Define SANITIZE=address,undefined to build with sanitizers (in build/san, dynamic).
# Define JAVA_HOME=<dir> to take the JVMTI headers from that JDK.
# Define V=1 to see the commands.

prefix ?= /usr/local
bindir = $(prefix)/bin
mandir = $(prefix)/share/man
CC = gcc
CFLAGS ?= -O2 -g
WARNINGS = -Wall -Wextra -Wshadow -Wvla -Wmissing-prototypes -Wno-unused-parameter -Wno-missing-field-initializers
BUILD = build
Q = $(if $(V),,@)
say = $(if $(V),,@echo "  $(1) $@";)

ifdef DEVELOPER
WARNINGS += -Werror
endif

BASE_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -Ilib -Icmd -I$(BUILD)
LDLIBS_STATIC = -ldw -lelf -lz -lbz2 -llzma -lcap $(shell $(CC) -print-file-name=libsupc++.a) -lgcc_eh -lm -pthread
LINK = -static-pie
PIE = -fPIE

ifdef SANITIZE
BUILD = build/san
LINK = -pie -fsanitize=$(SANITIZE)
BASE_CFLAGS += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer
endif

# What runs inside the JVM is built apart (lib/agent/Makefile.inc says how).
LIB_SRC = $(filter-out lib/agent/%, $(wildcard lib/*/*.c lib/*/*/*.c))
CMD_SRC = $(wildcard cmd/*.c)
LIB_OBJ = $(LIB_SRC:%.c=$(BUILD)/%.o)
CMD_OBJ = $(CMD_SRC:%.c=$(BUILD)/%.o)
DEPS = $(LIB_OBJ:.o=.d) $(CMD_OBJ:.o=.d) $(BUILD)/arcprof.d

all: $(BUILD)/arcprof

-include $(sort $(wildcard lib/*/Makefile.inc t/Makefile.inc Documentation/Makefile.inc))
-include $(DEPS)

$(BUILD)/arcprof: $(BUILD)/arcprof.o $(CMD_OBJ) $(BUILD)/libarcprof-core.a $(EXTRA_OBJ)
	$(call say,LD)$(CC) $(LINK) $(CFLAGS) -o $@ $(BUILD)/arcprof.o $(CMD_OBJ) $(EXTRA_OBJ) \
		$(BUILD)/libarcprof-core.a -Wl,--wrap=dlopen,--wrap=dlsym,--wrap=dlclose,--wrap=dlerror $(LDLIBS_STATIC)

$(BUILD)/libarcprof-core.a: $(LIB_OBJ)
	$(call say,AR)rm -f $@ && ar rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(BASE_CFLAGS) $(CFLAGS) $(PIE) -MMD -MP -c -o $@ $<

# Written only when it changed, so that an unchanged version rebuilds nothing.
$(BUILD)/version.h: FORCE
	@mkdir -p $(@D)
	@sh ./GIT-VERSION-GEN $@

$(BUILD)/arcprof.o $(BUILD)/cmd/version.o: $(BUILD)/version.h

clean:
	rm -rf build

FORCE:
.PHONY: all clean FORCE
