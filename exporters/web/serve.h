/*
 * web_serve - from a request to its answer.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_SERVE_H
#define EXPORTERS_WEB_SERVE_H

#include "exporters/source/source.h"
#include "exporters/web/access.h"
#include "proto/net/loop/loop.h"

struct web_serve; /* opaque */

struct web_serve_options {
	int fd;             /* listens; taken */
	const char *assets; /* folder; NULL: the files of the program */
	const char *viewer; /* of traces: its address, without quotes */
	struct web_access *access;
	uint64_t cache_bytes;
	const struct source_options *source;
};

int web_serve_open(struct web_serve **serve, struct loop *loop,
    const struct web_serve_options *options, struct err *err);
/* Accept no more connections, end the streams, answer what was asked, and quit
 * the loop. */
void web_serve_drain(struct web_serve *serve);
void web_serve_close(struct web_serve **serve);

#endif
