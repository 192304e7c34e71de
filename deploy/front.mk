# The front command, its script, and the example configuration.
# SPDX-License-Identifier: MIT
FRONT    := $(B)/bin/$(NAME)
SCRIPTS  := $(B)/bin/$(NAME)-config
INSTANCE := $(B)/share/$(NAME)/instance.sh
EXAMPLE  := $(B)/share/$(NAME)/$(NAME).conf.example

.PHONY: front
front: $(FRONT) $(SCRIPTS) $(INSTANCE) $(EXAMPLE)

# It needs libc only.
$(FRONT): $(call objs,deploy/poolscope.c deploy/verbs.c deploy/verb_options.c) $(B)/libproto.a
	@mkdir -p $(@D)
	$(call link)
$(INSTANCE): deploy/instance.sh
	install -D -m 0644 $< $@
$(B)/bin/%: deploy/%
	@mkdir -p $(@D)
	install -m 0755 $< $@

# All options there are, from the programs themselves.
$(EXAMPLE): $(PROGS) $(SCRIPTS)
	@mkdir -p $(@D)
	POOLSCOPE_DIR=/nonexistent $(B)/bin/$(NAME)-config example >$@.new && mv $@.new $@
