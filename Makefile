# make                       build every program into build/bin
# make test T=unit/sender    one test, or those whose names begin so: flow/030, golden/perf, fuzz/wire
# make quick                 lint, unit tests, recorded pools, three flows: 3 minutes
# make python                the Python module into build/python: PYTHONPATH
# make wheel                 ... as a wheel for pip into build/wheel
# make check                 every suite against this variant
#
# One rule: a program is one file with its main; everything else of its folder
# arrives through lib<folder>.a, and the agreement through libproto.a.

NAME    := poolscope
VERSION  = $(shell sed -n 's/^.define VERSION "\(.*\)"/\1/p' proto/base/version.h)

PREFIX  ?= /usr/local
DATADIR ?= $(PREFIX)/share/$(NAME)

# A variant is a directory, so switching never needs a clean; valgrind runs
# programs whose variables are not set before their time:
#   make VARIANT=debug      make VARIANT=asan check      make VARIANT=valgrind check
VARIANT        ?= release
flags-release  := -O2 -g
flags-valgrind := -O2 -g
flags-debug    := -O0 -g3
flags-asan     := -O1 -g -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined
flags-tsan     := -O1 -g -fsanitize=thread
flags-fuzz     := -O1 -g -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined
flags-cover    := -O0 -g --coverage
B              := build$(if $(filter-out release,$(VARIANT)),/$(VARIANT:valgrind=plain))

# What the compiler and pkg-config answered is asked once for each compiler, and
# again when this file changed.
PKG    := libzmq lmdb libconfuse libzstd libsodium zlib libdeflate libcurl libcrypto expat libmicrohttpd ncursesw
CONFIG := $(B)/config-$(subst $() ,-,$(notdir $(CC))).mk
ifneq ($(filter-out clean help fmt deb,$(or $(MAKECMDGOALS),all)),)
include $(CONFIG)
endif
$(CONFIG): Makefile
	@mkdir -p $(@D)
	@set -e; pkg="$(PKG) $$(pkg-config --exists msgpack-c && echo msgpack-c || echo msgpack)"; \
	cflags=$$(pkg-config --cflags $$pkg); libs=$$(pkg-config --libs $$pkg); \
	echo "pkg-cflags := $$cflags" >$@.new; echo "pkg-libs := $$libs" >>$@.new; \
	for f in -fstack-clash-protection -fcf-protection=full -ftrivial-auto-var-init=zero; do \
		! $(CC) -Werror $$f -x c -c -o /dev/null /dev/null 2>/dev/null || echo "hardening += $$f"; \
	done >>$@.new; mv $@.new $@

# What a release is hardened with, "hardening" where the compiler knows it;
# tests/lint/hardened.sh looks for all of it in the programs.
ifeq ($(VARIANT),release)
flags-release += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fPIE $(hardening)
link-release  := -Wl,-z,relro,-z,now,-z,noexecstack
pie-release   := -pie
endif

# WERROR=1, for CI: another compiler may warn of other things.
WARN    := $(if $(WERROR),-Werror) -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
           -Wpointer-arith -Wcast-qual -Wformat=2 -Werror=format-security -Wvla
ALL_CPPFLAGS := -D_GNU_SOURCE -DDATADIR='"$(DATADIR)"' -I. $(pkg-cflags) $(CPPFLAGS)
ALL_CFLAGS   := -std=c11 -pthread $(WARN) $(flags-$(VARIANT)) $(CFLAGS)
ALL_LDFLAGS  := -pthread -Wl,--as-needed $(filter -fsanitize=% --coverage,$(flags-$(VARIANT))) $(link-$(VARIANT)) $(LDFLAGS)
# Beside libasan only a static libubsan of gcc's heeds UBSAN_OPTIONS=log_path.
ifeq ($(VARIANT) $(findstring clang,$(CC)),asan )
ALL_LDFLAGS  += -static-libubsan
endif
# The library for shortest digits is linked in: what is used of it needs no C++
# at run time, and its shared object would load libstdc++ into every program.
LIBS         := $(pkg-libs) -l:libdouble-conversion.a -lm

objs  = $(patsubst %.c,$(B)/%.o,$(1))

# ---- the programs: folder/name.c holds main() -----------------------------
MAINS := agents/agent.c agents/emit.c agents/import.c agents/run.c agents/generate.c agents/spool.c agents/receiver.c broker/broker.c proto/wire.c \
         aggregator/aggregator.c aggregator/admin.c aggregator/archive.c aggregator/keys.c aggregator/partitions.c \
         exporters/plot.c exporters/stats.c exporters/dump.c exporters/trace.c \
         exporters/upload.c exporters/results.c exporters/fetch.c exporters/web.c exporters/mcp.c exporters/report.c exporters/top.c
PROGS := $(patsubst %.c,$(B)/bin/$(NAME)-%,$(notdir $(wildcard $(MAINS))))
# Sources lie up to two folders deep.
parts  = $(call objs,$(filter-out $(MAINS) $(wildcard agents/python/*.c),$(wildcard $(addprefix $(1)/,*.c */*.c */*/*.c))))

# ---- how anything is built ------------------------------------------------
.DEFAULT_GOAL := all
.PHONY: all check test quick lint fmt deb clean help
.SECONDARY:
all: $(PROGS) front $(B)/lib$(NAME).a $(B)/lib$(NAME).so pages

define program
$(B)/bin/$(NAME)-$(basename $(notdir $(1))): $(call objs,$(1)) $(B)/lib$(patsubst %/,%,$(dir $(1))).a
endef
$(foreach m,$(wildcard $(MAINS)),$(eval $(call program,$(m))))
# exporters read a store through aggregator/query/reader.h, and publish through
# agents/delivery/publisher.h
$(patsubst %.c,$(B)/bin/$(NAME)-%,$(notdir $(filter exporters/%,$(MAINS)))): $(B)/libaggregator.a $(B)/libagents.a

$(PROGS): $(B)/libproto.a
	@mkdir -p $(@D)
	$(call link)

$(foreach d,proto agents broker aggregator exporters,$(eval $(B)/lib$(d).a: $(call parts,$(d))))
$(B)/lib%.a:
	@mkdir -p $(@D); rm -f $@
	$(AR) rcs $@ $^

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# C++ has one file, a shim for a library.  $(CC) compiles it too; sanitizers do
# not look at it, as they do not at the library, and need no C++ at run time so.
$(B)/libproto.a: $(B)/proto/base/shortest_digits.o
$(B)/%.o: %.cc
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) -std=c++17 $(if $(WERROR),-Werror) -Wall -Wextra $(filter-out -fsanitize=% -fno-sanitize%,$(flags-$(VARIANT))) $(CFLAGS) -fno-exceptions -fno-rtti -MMD -MP -c -o $@ $<

# What measures or judges a program writes, and reads, when it ends.
ifneq ($(filter asan tsan fuzz cover,$(VARIANT)),)
$(B)/proto/service/sandbox.o $(B)/proto/os/confine_calls.o: ALL_CPPFLAGS += -DCONFINE_REPORTS='"$(CURDIR)/$(B)"'
endif

-include $(shell find $(addprefix $(B)/,agents broker aggregator deploy exporters proto pic tests) -name '*.d' 2>/dev/null)

include agents/client/rules.mk agents/python/rules.mk exporters/web/rules.mk deploy/front.mk deploy/install.mk

# ---- tests ------------------------------------------------------------------
# tests/unit mirrors the source folders: tests/unit/AREA/FOLDER/x.c tests what is
# in AREA/FOLDER, and is linked with AREA and what it may use.  How the
# tests of a suite are linked and started is in tests/SUITE/rules.mk.
libs   = $(addprefix $(B)/lib,$(addsuffix .a,$(1)))
built  = $(patsubst tests/%.c,$(B)/%,$(wildcard tests/$(1)/*.c))
UNITS := $(patsubst tests/%.c,$(B)/%,$(wildcard $(addprefix tests/unit/*/,*.c */*.c */*/*.c)))
wrap   = $(addprefix -Xlinker --wrap=,$(1))
link   = $(CC) $(pie-$(VARIANT)) $(ALL_LDFLAGS) $(1) -o $@ $(filter %.o,$^) $(filter-out %libproto.a,$(filter %.a,$^)) $(B)/libproto.a $(LIBS)
include $(wildcard tests/*/rules.mk)

check: all unit fuzzers faults flows
	VARIANT=$(VARIANT) sh tests/check.sh
test: ; @VARIANT=$(VARIANT) CC="$(CC)" sh tests/test.sh "$(T)"
quick: all unit ; @CC="$(CC)" sh tests/run.sh quick
lint:
	@sh tests/lint/all.sh "$(CC)" $(filter-out -DDATADIR=%,$(ALL_CPPFLAGS)) $(pyflags)
fmt:
	clang-format -i $(shell git ls-files '*.[ch]')

# Debian packages of what is here, built in a copy, left in build/deb.
deb:
	sh deploy/deb.sh build/deb
clean:
	rm -rf build
help:
	@sed -n 's/^# \{0,1\}\(make.*\)/\1/p' Makefile
	@echo "targets: all check test quick unit fuzz soak bench bench-peers viewers model lint fmt install uninstall deb clean"
	@echo "VARIANT=release|debug|asan|tsan|fuzz|cover  PREFIX=$(PREFIX)  DESTDIR="
