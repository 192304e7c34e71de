# make            build every program into build/bin
# make check      the whole test suite against this variant
# make help       the other targets
#
# One rule: a program is one file with its main; everything else of its folder
# arrives through lib<folder>.a, and the agreement through libproto.a.

NAME    := poolscope
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo 0.1)

PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
MANDIR  ?= $(PREFIX)/share/man
DATADIR ?= $(PREFIX)/share/$(NAME)
LIBDIR  ?= $(PREFIX)/lib
INCDIR  ?= $(PREFIX)/include
COMPDIR ?= $(PREFIX)/share/bash-completion/completions
DESTDIR ?=

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

# What a release is hardened with; the second lot where the compiler knows it.
# tests/lint/hardened.sh looks for all of it in the programs.
ifeq ($(VARIANT),release)
known          = $(shell $(CC) -Werror $(1) -x c -c -o /dev/null /dev/null 2>/dev/null && echo $(1))
flags-release += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fPIE \
                 $(foreach f,-fstack-clash-protection -fcf-protection=full -ftrivial-auto-var-init=zero,$(call known,$f))
link-release  := -Wl,-z,relro,-z,now,-z,noexecstack
pie-release   := -pie
endif

PKG     := libzmq lmdb libconfuse jansson libzstd libsodium zlib libdeflate libcurl libcrypto expat \
           $(shell pkg-config --exists msgpack-c && echo msgpack-c || echo msgpack)
WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
           -Wpointer-arith -Wcast-qual -Wformat=2 -Werror=format-security -Wvla
ALL_CPPFLAGS := -D_GNU_SOURCE -DVERSION='"$(VERSION)"' -DDATADIR='"$(DATADIR)"' -I. \
                $(shell pkg-config --cflags $(PKG)) $(CPPFLAGS)
ALL_CFLAGS   := -std=c11 -pthread $(WARN) $(flags-$(VARIANT)) $(CFLAGS)
ALL_LDFLAGS  := -pthread -Wl,--as-needed $(filter -fsanitize=% --coverage,$(flags-$(VARIANT))) $(link-$(VARIANT)) $(LDFLAGS)
# Beside libasan only a static libubsan of gcc's heeds UBSAN_OPTIONS=log_path.
ifeq ($(VARIANT) $(findstring clang,$(CC)),asan )
ALL_LDFLAGS  += -static-libubsan
endif
# The library for shortest digits is linked in: what is used of it needs no C++
# at run time, and its shared object would load libstdc++ into every program.
LIBS         := $(shell pkg-config --libs $(PKG)) -l:libdouble-conversion.a -lm

objs  = $(patsubst %.c,$(B)/%.o,$(1))

# ---- the programs: folder/name.c holds main() -----------------------------
MAINS := agents/agent.c agents/emit.c agents/import.c agents/run.c agents/generate.c agents/spool.c broker/broker.c proto/wire.c \
         aggregator/aggregator.c aggregator/admin.c aggregator/keys.c aggregator/partitions.c \
         exporters/plot.c exporters/stats.c exporters/dump.c exporters/trace.c \
         exporters/upload.c exporters/results.c exporters/fetch.c
PROGS := $(patsubst %.c,$(B)/bin/$(NAME)-%,$(notdir $(wildcard $(MAINS))))
SCRIPTS := $(B)/bin/$(NAME) $(B)/bin/$(NAME)-config
EXAMPLE := $(B)/share/$(NAME)/$(NAME).conf.example
# Sources lie up to two folders deep.
parts  = $(call objs,$(filter-out $(MAINS),$(wildcard $(addprefix $(1)/,*.c */*.c */*/*.c))))

# ---- how anything is built ------------------------------------------------
.DEFAULT_GOAL := all
.PHONY: all pages completions deb check unit fuzzers benches faults flows fuzz soak bench bench-peers viewers model lint fmt install uninstall clean help
.SECONDARY:
all: $(PROGS) $(SCRIPTS) $(EXAMPLE) $(B)/lib$(NAME).a $(B)/lib$(NAME).so pages

# Pages where man(1) looks for those of a program in $(B)/bin.
PAGES := $(wildcard proto/*.1 agents/*.1 agents/*.3 exporters/*.1 deploy/*.1 deploy/*.5 deploy/*.7 agents/*.8 broker/*.8 aggregator/*.8 aggregator/*.5)
define page
pages: $(B)/share/man/man$(subst .,,$(suffix $(1)))/$(notdir $(1))
$(B)/share/man/man$(subst .,,$(suffix $(1)))/$(notdir $(1)): $(1)
	@install -D -m 0644 $$< $$@
endef
$(foreach p,$(PAGES),$(eval $(call page,$(p))))

# Completion for bash, from the options that each program has.
COMPLETED := $(addprefix $(B)/share/bash-completion/completions/,$(notdir $(PROGS)) $(NAME))
completions: $(COMPLETED)
$(B)/share/bash-completion/completions/%: $(B)/bin/% deploy/completion.sh
	@mkdir -p $(@D)
	sh deploy/completion.sh $< >$@.new && mv $@.new $@
$(B)/share/bash-completion/completions/$(NAME): $(PROGS)

define program
$(B)/bin/$(NAME)-$(basename $(notdir $(1))): $(call objs,$(1)) $(B)/lib$(patsubst %/,%,$(dir $(1))).a
endef
$(foreach m,$(wildcard $(MAINS)),$(eval $(call program,$(m))))
# exporters read a store through aggregator/query/reader.h, and publish through
# agents/delivery/publisher.h
$(patsubst %.c,$(B)/bin/$(NAME)-%,$(notdir $(filter exporters/%,$(MAINS)))): $(B)/libaggregator.a $(B)/libagents.a

$(PROGS): $(B)/libproto.a
	@mkdir -p $(@D)
	$(CC) $(pie-$(VARIANT)) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(filter-out %libproto.a,$(filter %.a,$^)) $(B)/libproto.a $(LIBS)

$(B)/bin/%: deploy/%
	@mkdir -p $(@D)
	install -m 0755 $< $@

# All options there are, from the programs themselves.
$(EXAMPLE): $(PROGS) $(SCRIPTS)
	@mkdir -p $(@D)
	POOLSCOPE_DIR=/nonexistent $(B)/bin/$(NAME)-config example >$@.new && mv $@.new $@

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
	$(CC) $(ALL_CPPFLAGS) -std=c++17 -Wall -Wextra $(filter-out -fsanitize=% -fno-sanitize%,$(flags-$(VARIANT))) $(CFLAGS) -fno-exceptions -fno-rtti -MMD -MP -c -o $@ $<

# ---- the library for programs: libc, and only $(NAME)_* is seen ------------
SONAME  := lib$(NAME).so.0
LIBSRC  := $(wildcard agents/client/*.c) agents/submit/local_socket.c \
           $(patsubst %,proto/%.c,os/clock base/crc32c base/err base/hash config/default_dir record/record \
             base/text msgpack/walk msgpack/walk_text wire/wire wire/write)
$(B)/pic/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -fPIC -ftls-model=initial-exec -fvisibility=hidden -ffunction-sections -MMD -MP -c -o $@ $<
$(B)/lib$(NAME).so: $(patsubst %.c,$(B)/pic/%.o,$(LIBSRC))
	$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,-z,nodelete -Wl,--gc-sections -o $@ $^
$(B)/lib$(NAME).a: $(patsubst %.c,$(B)/pic/%.o,$(LIBSRC))
	$(LD) -r -o $(B)/pic/whole.o $^
	objcopy --localize-hidden $(B)/pic/whole.o
	rm -f $@ && $(AR) rcs $@ $(B)/pic/whole.o

# What measures or judges a program writes, and reads, when it ends.
ifneq ($(filter asan tsan fuzz cover,$(VARIANT)),)
$(B)/proto/service/sandbox.o $(B)/proto/os/confine_calls.o: ALL_CPPFLAGS += -DLOCKDOWN_REPORTS='"$(CURDIR)/$(B)"'
endif

-include $(shell find $(B) -name '*.d' 2>/dev/null)

# ---- tests: tests/unit/AREA/FOLDER/x.c tests what is in AREA/FOLDER --------
# tests/unit mirrors the source folders; the others are flat.
built  = $(patsubst tests/%.c,$(B)/%,$(wildcard tests/$(1)/*.c))
UNITS := $(patsubst tests/%.c,$(B)/%,$(wildcard $(addprefix tests/unit/*/,*.c */*.c */*/*.c)))
# A test is linked with the areas that its own may use.
area   = $(filter $(B)/unit/$(1)/%,$(UNITS))
$(call area,exporters) $(call built,bench) $(call built,fuzz) $(call built,fault): \
	$(addprefix $(B)/lib,exporters.a broker.a aggregator.a agents.a)
$(call area,aggregator): $(B)/libaggregator.a
$(call area,agents): $(B)/libagents.a
$(call area,broker): $(B)/libbroker.a

link = $(CC) $(pie-$(VARIANT)) $(ALL_LDFLAGS) $(1) -o $@ $(filter %.o,$^) $(filter-out %libproto.a,$(filter %.a,$^)) $(B)/libproto.a $(LIBS)
# Only in this test is there a way to crash the fold.
$(B)/unit/aggregator/writer/writer_poison: ALL_LDFLAGS += -Wl,--wrap=collect_entry
$(B)/unit/%: $(B)/tests/unit/%.o $(B)/libproto.a
	@mkdir -p $(@D)
	$(call link) -lcmocka
$(B)/bench/%: $(B)/tests/bench/%.o $(B)/libproto.a
	@mkdir -p $(@D)
	$(call link) -lmsgpackc
$(B)/fault/simulate: $(call objs,$(wildcard tests/fault/sim/*.c tests/fault/memory/*.c))
$(B)/fault/simulate: ALL_LDFLAGS += $(addprefix -Xlinker --wrap=,clock_monotonic_ns clock_wall_ns random_bytes log_write \
                         spool_run spool_past_sessions spool_past_session spool_past_sessions_save spool_tell)
$(B)/fault/nth: $(call objs,$(wildcard tests/fault/nth/*.c))
# For programs as they are; where a sanitizer has to be first there is none.
$(B)/fault/nth.so: $(wildcard tests/fault/nth/*.h) tests/fault/opens.h tests/fault/real.h tests/fault/nth/shim.c tests/fault/nth/preload.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -fPIC -shared -o $@ $(filter %.c,$^) -ldl
$(B)/fault/spool_states: $(call objs,$(wildcard tests/fault/spool/*.c tests/fault/states/*.c))
$(B)/fault/drop_states $(B)/fault/store_states $(B)/fault/seal_states: $(call objs,$(wildcard tests/fault/states/*.c))
# TSan opens its report through the shim, before its own hooks can be called.
$(B)/tests/fault/states/%.o: ALL_CFLAGS := $(filter-out -fsanitize=thread,$(ALL_CFLAGS))
$(B)/fault/%: $(B)/tests/fault/%.o $(B)/libproto.a
	@mkdir -p $(@D)
	$(call link) -ldl
# A command line that is wrong ends its program: here it must not.
$(B)/fuzz/argv: ALL_LDFLAGS += -Wl,--wrap=exit
# A store in memory.
$(B)/fuzz/ingest: $(call objs,$(wildcard tests/fault/memory/*.c))
# Files in memory: ten times as many a second.
$(B)/fuzz/spool_meta $(B)/fuzz/spool_open: $(call objs,$(wildcard tests/fuzz/memory/*.c))
$(B)/fuzz/spool_meta $(B)/fuzz/spool_open: ALL_LDFLAGS += $(addprefix -Xlinker --wrap=,instance_make_dir \
	open openat close fstat fstatat unlinkat renameat2 renameat mkdirat fdopendir readdir closedir \
	pread pwrite posix_fallocate fsync fdatasync flock fcntl fstatvfs)
$(B)/fuzz/spool_segment: ALL_LDFLAGS += -Wl,--wrap=pread
# With clang's libFuzzer in VARIANT=fuzz; otherwise a main() replays corpora
# and inputs like theirs.
$(B)/fuzz/%: $(B)/tests/fuzz/%.o $(if $(filter fuzz,$(VARIANT)),,$(call objs,$(wildcard tests/fuzz/main/*.c))) $(B)/libproto.a
	@mkdir -p $(@D)
	$(call link,$(if $(filter fuzz,$(VARIANT)),-fsanitize=fuzzer))

# Programs of the flow tests: with the library as users have it, and no more.
$(B)/flow/%: tests/flow/%.c $(B)/lib$(NAME).a
	@mkdir -p $(@D)
	$(CC) -Iagents/client $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^
$(B)/flow/%: tests/flow/%.cc $(B)/lib$(NAME).a
	@mkdir -p $(@D)
	$(CXX) -Iagents/client -std=c++17 -pthread -Wall -Wextra -pedantic -Werror $(flags-$(VARIANT)) $(ALL_LDFLAGS) -o $@ $^

check: all unit fuzzers faults flows
	VARIANT=$(VARIANT) sh tests/check.sh
unit: $(UNITS)
fuzzers: $(call built,fuzz)
benches: $(call built,bench)
faults: $(call built,fault) $(if $(filter release,$(VARIANT)),$(B)/fault/nth.so)
flows: $(patsubst tests/%,$(B)/%,$(basename $(wildcard tests/flow/*.c tests/flow/*.cc)))
fuzz:
	$(MAKE) CC=clang VARIANT=fuzz fuzzers
	sh tests/fuzz/run.sh build/fuzz/fuzz
soak: all faults fuzzers
	VARIANT=$(VARIANT) sh tests/soak.sh
bench: all benches
	B=$(B) sh tests/bench/run.sh
bench-peers: all benches
	B=$(B) sh tests/bench/peers/run.sh
viewers: all
	B=$(B) sh tests/viewers/run.sh
model:
	sh tests/model/run.sh
lint:
	@for t in tests/lint/*.sh; do sh $$t "$(CC)" $(filter-out -DVERSION=% -DDATADIR=%,$(ALL_CPPFLAGS)) || exit 1; done
fmt:
	clang-format -i $(shell git ls-files '*.[ch]')

# ---- install --------------------------------------------------------------
install: all completions
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(DATADIR)/models
	install -m 0755 $(PROGS) $(SCRIPTS) $(DESTDIR)$(BINDIR)
	install -D -m 0644 -t $(DESTDIR)$(INCDIR) agents/client/$(NAME).h
	install -D -m 0644 -t $(DESTDIR)$(LIBDIR) $(B)/lib$(NAME).a
	install -m 0755 $(B)/lib$(NAME).so $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/lib$(NAME).so
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCDIR@|$(INCDIR)|; s|@VERSION@|$(VERSION)|' \
		agents/client/$(NAME).pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/$(NAME).pc
	install -m 0644 deploy/models/*.conf $(DESTDIR)$(DATADIR)/models
	install -m 0644 $(EXAMPLE) $(DESTDIR)$(DATADIR)
	install -D -m 0644 deploy/demo/render-60.jsonl $(DESTDIR)$(DATADIR)/demo/render-60.jsonl
	install -D -m 0644 -t $(DESTDIR)$(COMPDIR) $(COMPLETED)
	for p in $(PAGES); do install -D -m 0644 $$p $(DESTDIR)$(MANDIR)/man$${p##*.}/$${p##*/}; done
uninstall:
	rm -f $(addprefix $(DESTDIR)$(BINDIR)/,$(notdir $(PROGS) $(SCRIPTS)))
	rm -rf $(DESTDIR)$(DATADIR)
	rm -f $(addprefix $(DESTDIR)$(COMPDIR)/,$(notdir $(COMPLETED)))
	rm -f $(DESTDIR)$(INCDIR)/$(NAME).h $(DESTDIR)$(LIBDIR)/pkgconfig/$(NAME).pc $(addprefix $(DESTDIR)$(LIBDIR)/,lib$(NAME).a lib$(NAME).so $(SONAME))
	for p in $(PAGES); do rm -f $(DESTDIR)$(MANDIR)/man$${p##*.}/$${p##*/}; done
# Debian packages of what is here, built in a copy, left in build/deb.
deb:
	sh deploy/deb.sh build/deb
clean:
	rm -rf build
help:
	@sed -n 's/^# \{0,1\}\(make.*\)/\1/p' Makefile
	@echo "targets: all check unit fuzz soak bench bench-peers viewers model lint fmt install uninstall deb clean"
	@echo "VARIANT=release|debug|asan|tsan|fuzz|cover  PREFIX=$(PREFIX)  DESTDIR="
