.PHONY: parts
parts: $(call built,parts)

# Programs of the tests against real services.
$(patsubst %,$(B)/parts/archive_%,change read rows): $(call libs,aggregator)
$(B)/parts/compare_numbers: $(call libs,exporters)
$(B)/parts/%: $(B)/tests/parts/%.o $(B)/libproto.a
	@mkdir -p $(@D)
	$(call link)
