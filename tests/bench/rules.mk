.PHONY: benches bench bench-peers
benches: $(call built,bench)
bench: all benches
	B=$(B) sh tests/bench/run.sh
bench-peers: all benches
	B=$(B) sh tests/bench/peers/run.sh

$(call built,bench): $(call libs,exporters broker aggregator agents)
$(B)/bench/%: $(B)/tests/bench/%.o $(B)/libproto.a
	@mkdir -p $(@D)
	$(call link) -lmsgpackc
