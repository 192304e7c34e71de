/*
 * scratch - a directory of its own for a unit test.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_SCRATCH_H
#define TESTS_UNIT_SCRATCH_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Flip a bit in the last byte of every place where a file of at most 4 MiB has
 * these bytes, as a bad disk would.  Returns how many places there were. */
static inline unsigned
scratch_flip(const char *path, const void *wanted, size_t wanted_bytes)
{
	static unsigned char file[4 << 20];
	unsigned char *at = file, *last;
	unsigned places = 0;
	int fd = open(path, O_RDWR);
	ssize_t bytes = read(fd, file, sizeof(file));

	while (bytes > 0 && (at = memmem(at, (size_t)(file + bytes - at),
				 wanted, wanted_bytes)) != NULL) {
		last = at + wanted_bytes - 1;
		*last ^= 1;
		if (pwrite(fd, last, 1, last - file) != 1)
			abort();
		at = last + 1;
		places++;
	}
	close(fd);
	return places;
}

#endif
