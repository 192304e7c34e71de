/*
 * file_put - upload a file to a storage service: in one request if it is
 * small, otherwise in parts, resuming an interrupted upload.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_FILE_PUT_H
#define EXPORTERS_CLOUD_FILE_PUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "exporters/cloud/sign.h"
#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/os/progress.h"

/*
 * Read a file or a pipe in parts.
 *
 * Part n has 8 MiB << (n - 1) / 1000 bytes, the last part the rest.  9,000
 * parts hold more than 4 TB; services accept 10,000.  Only one part is in
 * memory, and the start of a part does not depend on the length of the file.
 */

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

/* The operations of a service; `arg` is its state. */
struct file_put {
	void *arg;
	const char *name; /* name for messages: "s3:bucket/key" */

	/* Upload a file that has a single part. */
	int (*put_whole)(
	    void *arg, const struct file_part *part, struct err *err);
	/* Begin an upload in parts: find the parts of an earlier attempt. */
	int (*begin)(void *arg, struct err *err);
	/* Upload a part; sets `there` if the service already stores it. */
	int (*put_part)(void *arg, const struct file_part *part, bool *there,
	    struct err *err);
	/* All parts are uploaded: combine them, and verify the result. */
	int (*finish)(
	    void *arg, const struct file_parts *parts, struct err *err);
	/* The upload failed permanently: remove its parts.  May be NULL. */
	void (*abort)(void *arg);
	/* Did the last failure leave the service without an answer?  Then the
	 * same upload can be resumed later, and its parts are not removed. */
	bool (*is_lost)(const void *arg);
	bool dry; /* dry run: nothing is sent, so nothing is logged as sent */
};

int file_put(
    const struct file_put *put, int fd, int64_t bytes, struct err *err);

#endif
