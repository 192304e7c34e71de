/*
 * guard - which calls are libzmq's.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/guard/guard.h"

#include <assert.h>
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

static struct {
	uintptr_t base, begin, end;
} libzmq_code;

void
guard_check(void)
{
	/* The dynamic linker looks into the program first, if that exports
	 * them. */
	assert(guard_has_epoll());
	assert(guard_has_sockets());
	assert(guard_has_crypto());
}

static int
note_code(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	(void)bytes;
	(void)arg;
	if (info->dlpi_addr != libzmq_code.base)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0)
			continue;
		libzmq_code.begin = info->dlpi_addr + part->p_vaddr;
		libzmq_code.end = libzmq_code.begin + part->p_memsz;
		return 1;
	}
	return 0;
}

void
guard_begin(void *library)
{
	struct link_map *map;
	int found = dlinfo(library, RTLD_DI_LINKMAP, &map);

	assert(found == 0);
	libzmq_code.base = map->l_addr;
	found = dl_iterate_phdr(note_code, NULL);
	assert(found == 1);
}

bool
guard_is_libzmq(const void *caller)
{
	return (uintptr_t)caller >= libzmq_code.begin &&
	       (uintptr_t)caller < libzmq_code.end;
}
