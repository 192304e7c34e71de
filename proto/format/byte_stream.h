/*
 * byte_stream - bytes on their way into an output: as they are, through gzip,
 * or as the only member of a tar in gzip.
 *
 * Everything goes through one buffer of a fixed size, whatever its length.
 * Failures are sticky: what is written afterwards goes nowhere, stream_end
 * says what was wrong.
 *
 * The size of a member stands before it in a tar, and is not known before its
 * end: the tar's header is a gzip member of its own, not compressed and so of a
 * known length, which stream_end goes back to.  That takes a file, not a pipe.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_FORMAT_BYTE_STREAM_H
#define PROTO_FORMAT_BYTE_STREAM_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

enum {
	STREAM_BUFFER_BYTES = 64 << 10,
	STREAM_ROOM_MAX = 4096, /* that stream_room can be asked for */
};

enum stream_kind { STREAM_PLAIN, STREAM_GZIP, STREAM_TAR_GZIP };

struct stream_zip; /* opaque */

struct stream {
	FILE *file; /* NULL: bytes are counted and go nowhere */
	struct stream_zip *zip;
	unsigned char *buffer;
	size_t used;      /* of it */
	uint64_t flushed; /* bytes that have left it, before compression */
	uint64_t unsent;  /* of the file: not told the disk yet */
	struct err err;   /* what went wrong first; empty: nothing */
};

/* `member` is the name in the tar.  With file NULL and STREAM_PLAIN the stream
 * only counts. */
int stream_begin(struct stream *stream, FILE *file, enum stream_kind kind,
    struct text member, struct err *err);
/* In any case the stream has ended afterwards; the file is the caller's. */
int stream_end(struct stream *stream, struct err *err);

void stream_put(struct stream *stream, const void *bytes, size_t count);
void stream_flush(struct stream *stream);

/* Bytes put so far, before compression. */
static inline uint64_t
stream_bytes(const struct stream *stream)
{
	return stream->flushed + stream->used;
}

/* Where the next bytes go, with room for so many (at most STREAM_ROOM_MAX);
 * stream_filled says up to where they were written. */
static inline unsigned char *
stream_room(struct stream *stream, size_t bytes)
{
	if (STREAM_BUFFER_BYTES - stream->used < bytes)
		stream_flush(stream);
	return stream->buffer + stream->used;
}

static inline void
stream_filled(struct stream *stream, const unsigned char *up_to)
{
	stream->used = (size_t)(up_to - stream->buffer);
}

#endif
