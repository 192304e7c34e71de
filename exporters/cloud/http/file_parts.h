/*
 * file_parts - a file or a pipe, a part at a time.
 *
 * Part n has 8 MiB << (n - 1) / 1000 bytes, the last one what is left: 10,000
 * parts, which is what services take, are more than enough for 4 TB, one part
 * is in memory, and where a part begins does not depend on how long the file
 * is.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_HTTP_FILE_PARTS_H
#define EXPORTERS_CLOUD_HTTP_FILE_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "exporters/cloud/http/md5.h"
#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/os/progress.h"

enum {
	FILE_PART_BYTES = 8 << 20,
	FILE_PARTS_PER_SIZE = 1000,
	FILE_PARTS_MAX = 9000, /* the last of them are of 2 GiB */
};

struct file_part {
	uint32_t number; /* from 1 */
	struct text body;
	bool last;
	unsigned char md5[MD5_BYTES];
};

struct file_parts {
	int fd;
	int64_t bytes; /* -1: not known */
	struct stat before;
	struct md5 *part_sum, *whole_sum;
	char *buffer;
	size_t room, used, given; /* used: bytes read; given: of the part */
	bool ended;
	uint32_t number;
	uint64_t done;                /* bytes that were given out */
	unsigned char md5[MD5_BYTES]; /* of all, when the last was given */
	const char *name;             /* for the bar; NULL: none */
	struct progress progress;
};

/* Read `fd` from where it stands.  Whatever comes back, file_parts_close. */
int file_parts_open(struct file_parts *parts, int fd, int64_t bytes,
    const char *name, struct err *err);
void file_parts_close(struct file_parts *parts);

/* The next part, valid until the one after it; of an empty file one empty part.
 * 1: here it is; 0: there was the last; -1: it cannot be read, was changed
 * meanwhile, or is too large. */
int file_parts_next(
    struct file_parts *parts, struct file_part *part, struct err *err);

uint64_t file_part_bytes(uint32_t number);

#endif
