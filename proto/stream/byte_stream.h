/*
 * byte_stream - stream bytes to an output: plain, gzip-compressed, or as the
 * only member of a gzip-compressed tar.
 *
 * All bytes pass through one buffer of fixed size, whatever their number.
 * Errors are sticky: later writes are discarded, and byte_stream_end reports
 * the error.
 *
 * A tar header contains the size of its member, which is known only at the
 * end. The tar header is therefore a gzip member of its own, uncompressed and
 * so of fixed length; byte_stream_end seeks to it and writes it last.  That
 * requires a file, not a pipe.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_STREAM_BYTE_STREAM_H
#define PROTO_STREAM_BYTE_STREAM_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

enum {
	BYTE_STREAM_BUFFER_BYTES = 64 << 10,
	BYTE_STREAM_ROOM_MAX = 4096, /* largest request to byte_stream_room */
};

enum byte_stream_kind {
	BYTE_STREAM_PLAIN,
	BYTE_STREAM_GZIP,
	BYTE_STREAM_TAR_GZIP
};

struct byte_stream_zip; /* opaque */

struct byte_stream {
	FILE *file; /* NULL: count the bytes and discard them */
	struct byte_stream_zip *zip;
	unsigned char *buffer;
	size_t used;      /* bytes in the buffer */
	uint64_t flushed; /* bytes that have left it, before compression */
	uint64_t unsent;  /* bytes written since the last sync was started */
	struct err err;   /* the first error; empty: none */
};

/* `member` is the name in the tar.  With file NULL and BYTE_STREAM_PLAIN the
 * stream only counts bytes. */
int byte_stream_begin(struct byte_stream *byte_stream, FILE *file,
    enum byte_stream_kind kind, struct text member, struct err *err);
/* -1: an error, possibly of an earlier call.  In either case the stream has
 * ended; the caller closes the file. */
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

/* Return where the next bytes go, with room for `bytes` (at most
 * BYTE_STREAM_ROOM_MAX); pass the end of what was written to
 * byte_stream_filled. */
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
