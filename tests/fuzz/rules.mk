.PHONY: fuzzers fuzz
fuzzers: $(call built,fuzz)
fuzz:
	$(MAKE) CC=clang VARIANT=fuzz fuzzers
	sh tests/fuzz/run.sh build/fuzz/fuzz

# Fuzz targets.
$(call built,fuzz): $(call libs,exporters broker aggregator agents)
# A command line that is wrong ends its program: here it must not.
$(B)/fuzz/argv: ALL_LDFLAGS += $(call wrap,exit)
# What is wrong is logged: here nobody reads it.
$(B)/fuzz/decode: ALL_LDFLAGS += $(call wrap,log_write)
# An answer in CSV logs its notes.
$(B)/fuzz/answer: ALL_LDFLAGS += $(call wrap,log_write)
# A store in memory.
$(B)/fuzz/ingest: $(call objs,$(wildcard tests/fault/memory/*.c))
# Files in memory: ten times as many a second.
$(B)/fuzz/spool_acked $(B)/fuzz/spool_open: $(call objs,$(wildcard tests/fuzz/memory/*.c))
$(B)/fuzz/spool_acked $(B)/fuzz/spool_open: ALL_LDFLAGS += $(call wrap,instance_make_dir \
	open openat close fstat fstatat unlinkat renameat2 renameat mkdirat fdopendir readdir closedir \
	pread pwrite posix_fallocate fsync fdatasync flock fcntl fstatvfs)
$(B)/fuzz/spool_segment: ALL_LDFLAGS += $(call wrap,pread)
# With clang's libFuzzer in VARIANT=fuzz; otherwise a main() replays corpora
# and inputs like theirs.
$(B)/fuzz/%: $(B)/tests/fuzz/%.o $(if $(filter fuzz,$(VARIANT)),,$(call objs,$(wildcard tests/fuzz/main/*.c))) $(B)/libproto.a
	@mkdir -p $(@D)
	$(call link,$(if $(filter fuzz,$(VARIANT)),-fsanitize=fuzzer))
