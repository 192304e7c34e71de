.PHONY: unit
unit: $(UNITS)

# Unit tests: each with its own area's library and those below it.
area = $(filter $(B)/unit/$(1)/%,$(UNITS))
$(call area,exporters): $(call libs,exporters broker aggregator agents)
$(call area,aggregator): $(call libs,aggregator)
$(call area,agents): $(call libs,agents)
$(call area,broker): $(call libs,broker)

# Only in this test is there a way to crash the indexer.
$(B)/unit/aggregator/writer/writer_quarantine: ALL_LDFLAGS += $(call wrap,collect_entry)

# cmocka passes each case a state, of which most have none.
$(B)/tests/unit/%.o: ALL_CFLAGS += -Wno-unused-parameter
$(B)/unit/%: $(B)/tests/unit/%.o $(B)/libproto.a
	@mkdir -p $(@D)
	$(call link) -lcmocka
