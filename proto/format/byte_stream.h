/*
 * byte_stream - bytes on their way into an output: as they are, through gzip,
 * or as the only member of a tar in gzip.
 *
 * Everything goes through one buffer of a fixed size, whatever its length.
 * Failures are sticky: what is written afterwards goes nowhere, byte_stream_end
 * says what was wrong.
 *
 * The size of a member stands before it in a tar, and is not known before its
 * end: the tar's header is a gzip member of its own, not compressed and so of a
 * known length, which byte_stream_end goes back to.  That takes a file, not a
 * pipe. SPDX-License-Identifier: MIT
 */
#ifndef PROTO_FORMAT_BYTE_STREAM_H
#define PROTO_FORMAT_BYTE_STREAM_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

enum {
	BYTE_STREAM_BUFFER_BYTES = 64 << 10,
	BYTE_STREAM_ROOM_MAX =
	    4096, /* that byte_stream_room can be asked for */
};

enum byte_stream_kind {
	BYTE_STREAM_PLAIN,
	BYTE_STREAM_GZIP,
	BYTE_STREAM_TAR_GZIP
};

struct byte_stream_zip; /* opaque */

struct byte_stream {
	FILE *file; /* NULL: bytes are counted and go nowhere */
	struct byte_stream_zip *zip;
	unsigned char *buffer;
	size_t used;      /* of it */
	uint64_t flushed; /* bytes that have left it, before compression */
	uint64_t unsent;  /* of the file: not reported the disk yet */
	struct err err;   /* what went wrong first; empty: nothing */
};

/* `member` is the name in the tar.  With file NULL and BYTE_STREAM_PLAIN the
 * stream only counts. */
int byte_stream_begin(struct byte_stream *byte_stream, FILE *file,
    enum byte_stream_kind kind, struct text member, struct err *err);
/* In any case the stream has ended afterwards; the file is the caller's. */
int byte_stream_end(struct byte_stream *byte_stream, struct err *err);

void byte_stream_put(
    struct byte_stream *byte_stream, const void *bytes, size_t count);
void byte_stream_flush(struct byte_stream *byte_stream);

/* Bytes put so far, before compression. */
static inline uint64_t
byte_stream_bytes(const struct byte_stream *byte_stream)
{
	return byte_stream->flushed + byte_stream->used;
}

/* Where the next bytes go, with room for so many (at most
 * BYTE_STREAM_ROOM_MAX); byte_stream_filled says up to where they were written.
 */
static inline unsigned char *
byte_stream_room(struct byte_stream *byte_stream, size_t bytes)
{
	if (BYTE_STREAM_BUFFER_BYTES - byte_stream->used < bytes)
		byte_stream_flush(byte_stream);
	return byte_stream->buffer + byte_stream->used;
}

static inline void
byte_stream_filled(struct byte_stream *byte_stream, const unsigned char *up_to)
{
	byte_stream->used = (size_t)(up_to - byte_stream->buffer);
}

#endif
