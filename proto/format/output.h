/*
 * output - write a file completely or not at all.
 *
 * The file is written under a temporary name in the same directory, then
 * synced and renamed by output_commit. output_abort removes it, and so does an
 * early end of the process (exit, INT, TERM, HUP).  "-" and /dev/stdout are
 * standard output. A path that exists and is not a regular file (a pipe,
 * /dev/null) is written directly, never replaced; if the path is a link to a
 * file, the file is replaced.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_FORMAT_OUTPUT_H
#define PROTO_FORMAT_OUTPUT_H

#include <stdint.h>
#include <stdio.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/service/sandbox.h"

enum { OUTPUT_PATH_BYTES = 4096, OUTPUTS_MAX = 8 };

struct output {
	FILE *file; /* write here; errors are sticky and reported by commit */
	char path[OUTPUT_PATH_BYTES]; /* "-", or the path with links resolved */
	char temporary[OUTPUT_PATH_BYTES]; /* "" when the path is written
					      directly */
	int64_t bytes;                     /* of the file that was written */
};

int output_open(struct output *output, const char *path, struct err *err);
/* Open `name` in `dir`, where `name` is arbitrary data.  It is encoded as a
 * single file name without special characters of a shell: a byte that is not a
 * letter, a digit, one of "._-+=,@:" or beyond ASCII becomes %XX, and so do a
 * leading '.' and '-'. */
int output_open_in(struct output *output, const char *dir, struct text name,
    const char *suffix, struct err *err);
/* Before opening: declare the file access that output_open needs to the
 * sandbox; NULL declares nothing. */
void output_sandbox(struct sandbox *sandbox, const char *path);
/* Both end the output in any case; then `file` is NULL. */
int output_commit(struct output *output, struct err *err);
/* The same, and log what was written in one sentence, unless --quiet, or it is
 * no file: "wrote pool.png: 45 KiB, with .dat".  `more`: its end, or "". */
int output_commit_logged(
    struct output *output, const char *more, struct err *err);
void output_abort(struct output *output);

/* Encode a name as output_open_in does, into `to`, NUL-terminated; `more`
 * lists further bytes to encode ("" for none).  Returns the length, or 0 if
 * `room` is too small or the result is empty. */
size_t output_encode(char *to, size_t room, struct text name, const char *more);

#endif
