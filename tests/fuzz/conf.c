/*
 * conf - any configuration file is taken or refused with file and reason.
 * SPDX-License-Identifier: MIT
 */
#include "proto/conf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t bytes, wait;
static const struct opt options[] = {
	{ "spool-bytes", 0, OPT_BYTES, &bytes, "BYTES", "bound", NULL, false },
	{ "wait", 'w', OPT_COUNT, &wait, "N", "wait", NULL, false },
	{ .name = NULL },
};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct opt *const tables[] = { options, NULL };
	static const struct opt_program program = { "poolscope-emit", "", "",
		tables, 0, 0 };
	struct err err = { "" };
	char path[64];
	int fd = memfd_create("conf", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (conf_load(path, &program, &err) != 0)
		assert(strncmp(err.text, path, strlen(path)) == 0);
	close(fd);
	return 0;
}
