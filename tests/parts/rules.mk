.PHONY: parts
parts: $(call built,parts)

# Programs of the tests against real services.
$(B)/parts/archive_rows $(B)/parts/archive_change: $(call libs,aggregator)
$(B)/parts/%: $(B)/tests/parts/%.o $(B)/libproto.a
	@mkdir -p $(@D)
	$(call link)
