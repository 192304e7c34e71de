.PHONY: faults soak
faults: $(call built,fault) $(if $(filter release,$(VARIANT)),$(B)/fault/nth.so)
soak: all faults fuzzers
	VARIANT=$(VARIANT) sh tests/soak.sh

# Programs of the fault tests.
$(call built,fault): $(call libs,exporters broker aggregator agents)
$(B)/fault/simulate: $(call objs,$(wildcard tests/fault/sim/*.c tests/fault/memory/*.c))
$(B)/fault/simulate: ALL_LDFLAGS += $(call wrap,clock_monotonic_ns clock_wall_ns hash_random_bytes log_write)
$(B)/fault/nth: $(call objs,$(filter-out %/preload.c,$(wildcard tests/fault/nth/*.c)))
# For programs as they are; where a sanitizer has to be first there is none.
$(B)/fault/nth.so: $(wildcard tests/fault/nth/*.h) tests/fault/opens.h tests/fault/real.h tests/fault/nth/shim.c tests/fault/nth/preload.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -fPIC -shared -o $@ $(filter %.c,$^) -ldl
$(B)/fault/spool_states: $(call objs,$(wildcard tests/fault/spool/*.c tests/fault/states/*.c))
$(B)/fault/fallback_states $(B)/fault/store_states $(B)/fault/compact_states: $(call objs,$(wildcard tests/fault/states/*.c))
# TSan opens its report through the shim, before its own hooks can be called.
$(B)/tests/fault/states/%.o: ALL_CFLAGS := $(filter-out -fsanitize=thread,$(ALL_CFLAGS))
$(B)/fault/%: $(B)/tests/fault/%.o $(B)/libproto.a
	@mkdir -p $(@D)
	$(call link) -ldl
