.PHONY: parts
parts: $(call built,parts)

# Programs of the tests against real services.
$(patsubst %,$(B)/parts/archive_%,change read rows): $(call libs,aggregator)
$(patsubst %,$(B)/parts/%,compare_numbers change_points_of): $(call libs,exporters)
$(B)/parts/%: $(B)/tests/parts/%.o $(B)/libproto.a
	@mkdir -p $(@D)
	$(call link)
