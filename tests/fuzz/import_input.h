/*
 * import_input - an input as a file that can be imported: one file in memory
 * for all inputs of a process.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FUZZ_IMPORT_INPUT_H
#define TESTS_FUZZ_IMPORT_INPUT_H

#include <assert.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agents/import/file.h"

static inline void
import_input_open(struct import_file *file, const uint8_t *data, size_t size)
{
	static int fd = -1;
	static char path[64];
	struct err err;

	if (fd < 0) {
		fd = memfd_create("input", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	assert(pwrite(fd, data, size, 0) == (ssize_t)size);
	assert(ftruncate(fd, (off_t)size) == 0);
	assert(import_file_open(file, path, &err) == 0);
}

#endif
