.PHONY: flows
flows: python $(patsubst tests/%,$(B)/%,$(basename $(wildcard tests/flow/*.c tests/flow/*.cc)))

# Programs of the flow tests: with the library as users have it, and no more.
$(B)/flow/%: tests/flow/%.c $(B)/lib$(NAME).a
	@mkdir -p $(@D)
	$(CC) -Iagents/client $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^
$(B)/flow/%: tests/flow/%.cc $(B)/lib$(NAME).a
	@mkdir -p $(@D)
	$(CXX) -Iagents/client -std=c++17 -pthread -Wall -Wextra -pedantic $(if $(WERROR),-Werror) $(flags-$(VARIANT)) $(ALL_LDFLAGS) -o $@ $^
# One that draws lots.
$(B)/flow/job_of_ranks: tests/flow/job_of_ranks.c $(B)/lib$(NAME).a
	@mkdir -p $(@D)
	$(CC) -Iagents/client $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ -lm
# One that looks inside of a store.
$(B)/flow/archive_trip: $(B)/tests/flow/archive_trip.o $(call libs,aggregator) $(B)/libproto.a
	@mkdir -p $(@D)
	$(call link) -lcmocka

# This one does what a part of the aggregator does.
$(B)/flow/marks: $(B)/tests/flow/marks.o $(call libs,aggregator) $(B)/libproto.a
	@mkdir -p $(@D)
	$(call link)
