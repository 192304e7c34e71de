/*
 * output - a file that is there whole or not at all.
 *
 * Written under a temporary name beside its place, synced and renamed by
 * output_commit; removed by output_abort, and when the process ends early
 * (exit, INT, TERM, HUP).  "-" and /dev/stdout are standard output.  What
 * exists and is not a regular file (a pipe, /dev/null) is written directly,
 * never replaced; of a link to a file the file is replaced.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_FORMAT_OUTPUT_H
#define PROTO_FORMAT_OUTPUT_H

#include <stdio.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/service/sandbox.h"

enum { OUTPUT_PATH_BYTES = 4096, OUTPUTS_MAX = 8 };

struct output {
	FILE *file; /* write here; errors are sticky and found at commit */
	char path[OUTPUT_PATH_BYTES];      /* "-", or what the links lead to */
	char temporary[OUTPUT_PATH_BYTES]; /* "" when written directly */
};

int output_open(struct output *output, const char *path, struct err *err);
/* Beside `dir`/`name` where `name` is data: encoded so that it is one file
 * name, and means nothing to a shell: what is not a letter, a digit, one of
 * "._-+=,@:" or beyond ASCII becomes %XX, and so do '.' and '-' in front. */
int output_open_in(struct output *output, const char *dir, struct text name,
    const char *suffix, struct err *err);
/* Before it: what output_open needs of the files; NULL says nothing. */
void output_sandbox(struct sandbox *sandbox, const char *path);
/* Both end the output in any case: afterwards `file` is NULL. */
int output_commit(struct output *output, struct err *err);
void output_abort(struct output *output);

/* The encoding of output_open_in, into `to` with a NUL; `more` are further
 * bytes to encode ("" for none).  Returns the length, or 0 when `room` is too
 * small or nothing is left of it. */
size_t output_encode(char *to, size_t room, struct text name, const char *more);

#endif
