# The files of the page become part of poolscope-web.
# SPDX-License-Identifier: MIT
WEB_PALETTE := $(B)/exporters/web/palette.js
WEB_PAGE := $(sort $(wildcard exporters/web/page/*.html exporters/web/page/*.css exporters/web/page/*.js exporters/web/page/*.svg)) $(WEB_PALETTE) exporters/web/openapi.json
WEB_LIST := $(B)/exporters/web/page_files.list
WEB_OBJ  := $(B)/exporters/web/page_files.o

# Made again when a file is added or removed, too.
ifneq ($(WEB_PAGE),$(shell cat $(WEB_LIST) 2>/dev/null))
$(shell mkdir -p $(dir $(WEB_LIST)) && echo $(WEB_PAGE) >$(WEB_LIST))
endif
$(WEB_PALETTE): exporters/web/palette.sh exporters/plot/palette.def
	@mkdir -p $(@D)
	sh exporters/web/palette.sh exporters/plot/palette.def >$@.new && mv $@.new $@
$(WEB_OBJ:.o=.c): exporters/web/page_files.sh $(WEB_LIST) $(WEB_PAGE)
	@mkdir -p $(@D)
	sh exporters/web/page_files.sh $(WEB_PAGE) >$@.new && mv $@.new $@
$(WEB_OBJ): $(WEB_OBJ:.o=.c)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<
$(B)/libexporters.a: $(WEB_OBJ)
