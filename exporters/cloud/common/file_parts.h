/*
 * file_parts - read a file or a pipe in parts.
 *
 * Part n has 8 MiB << (n - 1) / 1000 bytes, the last part the rest.  9,000
 * parts hold more than 4 TB; services accept 10,000.  Only one part is in
 * memory, and the start of a part does not depend on the length of the file.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_COMMON_FILE_PARTS_H
#define EXPORTERS_CLOUD_COMMON_FILE_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "exporters/cloud/common/md5.h"
#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/os/progress.h"

enum {
	FILE_PART_BYTES = 8 << 20,
	FILE_PARTS_PER_SIZE = 1000,
	FILE_PARTS_MAX = 9000, /* the last parts have 2 GiB each */
};

struct file_part {
	uint32_t number; /* number of the part, from 1 */
	struct text body;
	bool last;
	unsigned char md5[MD5_BYTES];
};

struct file_parts {
	int fd;
	int64_t bytes; /* -1: unknown */
	struct stat before;
	struct md5 *part_sum, *whole_sum;
	char *buffer;
	size_t room, used,
	    given; /* used: bytes read; given: bytes of the current part */
	bool ended;
	uint32_t number;
	uint64_t done; /* total bytes of the parts so far */
	unsigned char
	    md5[MD5_BYTES]; /* digest of the file, valid after the last part */
	const char *name;   /* progress bar; NULL: none */
	struct progress progress;
};

/* Read `fd` from its current position.  Call file_parts_close whatever this
 * returns. */
int file_parts_open(struct file_parts *parts, int fd, int64_t bytes,
    const char *name, struct err *err);
void file_parts_close(struct file_parts *parts);

/* Get the next part, valid until the next call; an empty file has one empty
 * part.  Returns 1 with a part, 0 after the last, -1 if the file cannot be
 * read, has changed, or is too large. */
int file_parts_next(
    struct file_parts *parts, struct file_part *part, struct err *err);

uint64_t file_part_bytes(uint32_t number);

#endif
