# The Python module: libpoolscope inside, the stable ABI of Python 3.10, libc alone.
# SPDX-License-Identifier: MIT
PYTHON ?= /usr/bin/python3
PYFILES := $(patsubst agents/python/%,$(B)/python/%,$(filter-out %.pyc,$(wildcard $(addprefix agents/python/$(NAME)/,*.* */*.*))))
PYNATIVE := $(B)/python/$(NAME)/_native.abi3.so
pyflags = -isystem $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
.PHONY: python
python: $(PYNATIVE) $(PYFILES)
$(PYFILES): $(B)/python/%: agents/python/%
	@install -D -m 0644 $< $@
$(B)/pic/agents/python/%.o: ALL_CPPFLAGS += $(pyflags)
# It stays in memory: the library's thread outlives the module.
$(PYNATIVE): $(patsubst %.c,$(B)/pic/%.o,$(wildcard agents/python/*.c)) $(B)/lib$(NAME).a
	@mkdir -p $(@D)
	$(CC) $(ALL_LDFLAGS) -shared -Wl,-z,nodelete -Wl,--gc-sections -Wl,--exclude-libs,ALL -o $@ $^
.PHONY: wheel
wheel: python
	$(PYTHON) agents/python/build_wheel.py $(B)/python $(B)/wheel
