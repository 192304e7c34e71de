/*
 * opens - the four calls that open a file, for whoever stands in front of the
 * C library: each comes to his do_open().
 *
 * Included once by each.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FAULT_OPENS_H
#define TESTS_FAULT_OPENS_H

#include <fcntl.h>
#include <stdarg.h>

#include "tests/fault/real.h"

int do_open(int dir, const char *name, int flags, mode_t mode);

#define MODE(flags, mode)                                                      \
	do {                                                                   \
		va_list args;                                                  \
		va_start(args, flags);                                         \
		if (((flags)&O_CREAT) != 0)                                    \
			mode = va_arg(args, mode_t);                           \
		va_end(args);                                                  \
	} while (0)

int
open(const char *name, int flags, ...)
{
	mode_t mode = 0;

	MODE(flags, mode);
	return do_open(AT_FDCWD, name, flags, mode);
}

int
open64(const char *name, int flags, ...)
{
	mode_t mode = 0;

	MODE(flags, mode);
	return do_open(AT_FDCWD, name, flags, mode);
}

int
openat(int dir, const char *name, int flags, ...)
{
	mode_t mode = 0;

	MODE(flags, mode);
	return do_open(dir, name, flags, mode);
}

int
openat64(int dir, const char *name, int flags, ...)
{
	mode_t mode = 0;

	MODE(flags, mode);
	return do_open(dir, name, flags, mode);
}

#endif
