# Pages, completion, install and uninstall.  SPDX-License-Identifier: MIT
BINDIR  ?= $(PREFIX)/bin
MANDIR  ?= $(PREFIX)/share/man
LIBDIR  ?= $(PREFIX)/lib
INCDIR  ?= $(PREFIX)/include
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR  ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
DOCDIR  ?= $(PREFIX)/share/doc/$(NAME)
DESTDIR ?=

.PHONY: pages completions install uninstall

# Pages where man(1) looks for those of a program in $(B)/bin.  Those of the questions of
# poolscope-stats are made from the program; which ones there are is its business.
MADE := $(B)/share/man/man1/$(NAME)-stats.1
PAGES := $(filter-out exporters/$(NAME)-stats.1,$(wildcard proto/*.1 agents/*.1 agents/*.3 agents/python/*.7 exporters/*.1 deploy/*.1 deploy/*.5 deploy/*.7 agents/*.8 broker/*.8 aggregator/*.1 aggregator/*.8 aggregator/*.5))
define page
pages: $(B)/share/man/man$(subst .,,$(suffix $(1)))/$(notdir $(1))
$(B)/share/man/man$(subst .,,$(suffix $(1)))/$(notdir $(1)): $(1)
	@install -D -m 0644 $$< $$@
endef
$(foreach p,$(PAGES),$(eval $(call page,$(p))))
pages: $(MADE)
$(MADE): $(B)/bin/$(NAME)-stats exporters/manual.sh exporters/manual.awk exporters/$(NAME)-stats.1 $(wildcard exporters/question/*.mdoc)
	@sh exporters/manual.sh $< $(@D)

# Completion for shells, from the options that each program has.
COMPLETED := $(notdir $(PROGS) $(SCRIPTS)) $(NAME)
BASHES := $(addprefix $(B)/share/bash-completion/completions/,$(COMPLETED))
ZSHES  := $(addprefix $(B)/share/zsh/site-functions/_,$(COMPLETED))
FISHES := $(addprefix $(B)/share/fish/vendor_completions.d/,$(addsuffix .fish,$(COMPLETED)))
completions: $(BASHES) $(ZSHES) $(FISHES)
define completion
	@mkdir -p $(@D)
	sh deploy/completion.sh $(1) $< >$@.new && mv $@.new $@
endef
$(BASHES): $(B)/share/bash-completion/completions/%: $(B)/bin/% deploy/completion.sh
	$(call completion,bash)
$(ZSHES): $(B)/share/zsh/site-functions/_%: $(B)/bin/% deploy/completion.sh
	$(call completion,zsh)
$(FISHES): $(B)/share/fish/vendor_completions.d/%.fish: $(B)/bin/% deploy/completion.sh
	$(call completion,fish)
# The front command asks the programs of its verbs.
$(filter %/$(NAME) %/_$(NAME) %/$(NAME).fish,$(BASHES) $(ZSHES) $(FISHES)): $(PROGS) $(SCRIPTS)

install: all completions
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(DATADIR)/models
	install -m 0755 $(PROGS) $(FRONT) $(SCRIPTS) $(DESTDIR)$(BINDIR)
	install -D -m 0644 -t $(DESTDIR)$(INCDIR) agents/client/$(NAME).h
	install -D -m 0644 -t $(DESTDIR)$(LIBDIR) $(B)/lib$(NAME).a
	install -m 0755 $(B)/lib$(NAME).so $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/lib$(NAME).so
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCDIR@|$(INCDIR)|; s|@VERSION@|$(VERSION)|' \
		agents/client/$(NAME).pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/$(NAME).pc
	install -m 0644 deploy/models/*.conf $(DESTDIR)$(DATADIR)/models
	install -m 0644 $(EXAMPLE) $(INSTANCE) $(DESTDIR)$(DATADIR)
	install -D -m 0644 deploy/demo/render-60.jsonl $(DESTDIR)$(DATADIR)/demo/render-60.jsonl
	install -D -m 0644 -t $(DESTDIR)$(DOCDIR) exporters/web/api.md exporters/web/openapi.json
	install -D -m 0644 -t $(DESTDIR)$(BASHDIR) $(BASHES)
	install -D -m 0644 -t $(DESTDIR)$(ZSHDIR) $(ZSHES)
	install -D -m 0644 -t $(DESTDIR)$(FISHDIR) $(FISHES)
	for p in $(PAGES); do install -D -m 0644 $$p $(DESTDIR)$(MANDIR)/man$${p##*.}/$${p##*/}; done
	install -m 0644 $(MADE) $(MADE:.1=)-*.1 $(DESTDIR)$(MANDIR)/man1
uninstall:
	rm -f $(addprefix $(DESTDIR)$(BINDIR)/,$(notdir $(PROGS) $(FRONT) $(SCRIPTS)))
	rm -rf $(DESTDIR)$(DATADIR)
	rm -f $(DESTDIR)$(DOCDIR)/api.md $(DESTDIR)$(DOCDIR)/openapi.json
	rm -f $(addprefix $(DESTDIR)$(BASHDIR)/,$(notdir $(BASHES)))
	rm -f $(addprefix $(DESTDIR)$(ZSHDIR)/,$(notdir $(ZSHES)))
	rm -f $(addprefix $(DESTDIR)$(FISHDIR)/,$(notdir $(FISHES)))
	rm -f $(DESTDIR)$(INCDIR)/$(NAME).h $(DESTDIR)$(LIBDIR)/pkgconfig/$(NAME).pc $(addprefix $(DESTDIR)$(LIBDIR)/,lib$(NAME).a lib$(NAME).so $(SONAME))
	for p in $(PAGES); do rm -f $(DESTDIR)$(MANDIR)/man$${p##*.}/$${p##*/}; done
	rm -f $(DESTDIR)$(MANDIR)/man1/$(NAME)-stats.1 $(DESTDIR)$(MANDIR)/man1/$(NAME)-stats-*.1
