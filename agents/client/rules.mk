# The library for programs: libc, and only $(NAME)_* is seen.
# SPDX-License-Identifier: MIT
SONAME  := lib$(NAME).so.0
LIBSRC  := $(wildcard agents/client/*.c) agents/submit/local_socket.c \
           $(patsubst %,proto/%.c,os/clock os/clock_words os/owner/trusted_dir hash/crc32c hash/blake2b metric/dynamic_group base/err hash/hash config/default_dir record/record record/session \
             base/text msgpack/walk msgpack/walk_text wire/header wire/write)
$(B)/pic/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -fPIC -ftls-model=initial-exec -fvisibility=hidden -ffunction-sections -MMD -MP -c -o $@ $<
$(B)/lib$(NAME).so: $(patsubst %.c,$(B)/pic/%.o,$(LIBSRC))
	$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,-z,nodelete -Wl,--gc-sections -o $@ $^
$(B)/lib$(NAME).a: $(patsubst %.c,$(B)/pic/%.o,$(LIBSRC))
	$(LD) -r -o $(B)/pic/whole.o $^
	objcopy --localize-hidden $(B)/pic/whole.o
	rm -f $@ && $(AR) rcs $@ $(B)/pic/whole.o
