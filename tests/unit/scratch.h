/*
 * scratch - a directory of its own for a unit test.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_SCRATCH_H
#define TESTS_UNIT_SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { SCRATCH_BYTES = 96 };

static inline int
scratch_remove_one(
    const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* Make it; returns `to`. */
static inline const char *
scratch_make(char to[static SCRATCH_BYTES])
{
	snprintf(to, SCRATCH_BYTES, "/tmp/poolscope.XXXXXX");
	if (mkdtemp(to) == NULL)
		abort();
	return to;
}

static inline void
scratch_remove(const char *path)
{
	nftw(path, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
