/*
 * byte_stream - bytes on their way into an output.
 * SPDX-License-Identifier: MIT
 */
#include "proto/format/byte_stream.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "proto/format/compress_block.h"
#define ZLIB_CONST /* deflate only reads what it is given */
#include <zlib.h>

enum {
	LEVEL = 2,                             /* as fast as 1, and smaller */
	BLOCK_BYTES = 4 * STREAM_BUFFER_BYTES, /* a member of gzip's */
	SEND_BYTES = 8 << 20,
	WINDOW_BITS = 15,
	GZIP = 16, /* zlib: with gzip's header and checksum */
	TAR_BLOCK = 512,
	/* A gzip header, a stored block's header, the end. */
	STORED_BYTES = 10 + 5 + TAR_BLOCK + 8,
};

struct stream_zip {
	z_stream z; /* gzip */
	unsigned char out[STREAM_BUFFER_BYTES];

	struct pack_block *pack; /* tar; NULL: gzip */
	unsigned char *block;
	size_t used;    /* of it */
	char name[100]; /* of the member; NUL-terminated where it fits */
};

/* ---- the file ---- */

static void
fail(struct stream *stream)
{
	if (stream->err.text[0] == '\0')
		err_set(&stream->err, "%s", strerror(errno != 0 ? errno : EIO));
}

static void
write_file(struct stream *stream, const void *bytes, size_t count)
{
	if (stream->err.text[0] != '\0')
		return;
	errno = 0;
	if (fwrite(bytes, 1, count, stream->file) != count)
		fail(stream);
	/* What is on its way to the disk early need not be waited for at the
	 * end; a pipe or an old file system has no such way, and no need. */
	stream->unsent += count;
	if (stream->unsent >= SEND_BYTES) {
		stream->unsent = 0;
		sync_file_range(
		    fileno(stream->file), 0, 0, SYNC_FILE_RANGE_WRITE);
	}
}

/* ---- gzip ---- */

static void
deflate_all(struct stream *stream, const void *bytes, size_t count, int flush)
{
	struct stream_zip *zip = stream->zip;
	int rc;

	zip->z.next_in = bytes;
	zip->z.avail_in = (uInt)count;
	do {
		zip->z.next_out = zip->out;
		zip->z.avail_out = sizeof(zip->out);
		rc = deflate(&zip->z, flush);
		assert(rc != Z_STREAM_ERROR);
		write_file(
		    stream, zip->out, sizeof(zip->out) - zip->z.avail_out);
	} while (zip->z.avail_out == 0);
	assert(flush != Z_FINISH || rc == Z_STREAM_END);
}

/* What was begun before. */
static void
write_packed(struct stream *stream)
{
	struct text packed = pack_block_take(stream->zip->pack);

	if (packed.bytes > 0)
		write_file(stream, packed.at, packed.bytes);
}

/* What reads an archive reads many members as one.  What reads gzip in a
 * browser does not: there it is a stream. */
static void
pack_all(struct stream *stream)
{
	struct stream_zip *zip = stream->zip;

	write_packed(stream);
	pack_block_begin(zip->pack, zip->block, zip->used);
	zip->used = 0;
}

static void
add_to_block(struct stream *stream)
{
	struct stream_zip *zip = stream->zip;

	memcpy(zip->block + zip->used, stream->buffer, stream->used);
	zip->used += stream->used;
	if (zip->used + STREAM_BUFFER_BYTES > BLOCK_BYTES)
		pack_all(stream);
}

void
stream_flush(struct stream *stream)
{
	if (stream->used == 0)
		return;
	if (stream->zip != NULL && stream->zip->pack != NULL)
		add_to_block(stream);
	else if (stream->zip != NULL)
		deflate_all(stream, stream->buffer, stream->used, Z_NO_FLUSH);
	else if (stream->file != NULL)
		write_file(stream, stream->buffer, stream->used);
	stream->flushed += stream->used;
	stream->used = 0;
}

void
stream_put(struct stream *stream, const void *bytes, size_t count)
{
	const unsigned char *from = bytes;

	while (count > 0) {
		size_t room = STREAM_BUFFER_BYTES - stream->used;
		size_t part = count < room ? count : room;

		memcpy(stream->buffer + stream->used, from, part);
		stream->used += part;
		from += part;
		count -= part;
		if (stream->used == STREAM_BUFFER_BYTES)
			stream_flush(stream);
	}
}

/* ---- tar ---- */

/* Octal, or from 8 GiB on the bytes of the number behind a set bit, as GNU's
 * and every newer tar reads it. */
static void
put_size(unsigned char field[static 12], uint64_t size)
{
	if (size < UINT64_C(1) << 33) {
		char octal[13];

		snprintf(
		    octal, sizeof(octal), "%011llo", (unsigned long long)size);
		memcpy(field, octal, 12);
		return;
	}
	memset(field, 0, 12);
	field[0] = 0x80;
	for (int i = 11; i >= 4; i--, size >>= 8)
		field[i] = (unsigned char)size;
}

static void
make_header(unsigned char block[static TAR_BLOCK], const char name[100],
    uint64_t size, time_t now)
{
	unsigned sum = 0;
	char octal[13];

	memset(block, 0, TAR_BLOCK);
	memcpy(block, name, strnlen(name, 100));
	memcpy(block + 100, "0000644", 8);
	memcpy(block + 108, "0000000", 8);
	memcpy(block + 116, "0000000", 8);
	put_size(block + 124, size);
	snprintf(octal, sizeof(octal), "%011llo",
	    (unsigned long long)now & 077777777777);
	memcpy(block + 136, octal, 12);
	block[156] = '0';
	memcpy(block + 257,
	    "ustar\0"
	    "00",
	    8);
	/* The checksum is of a header with blanks in its place. */
	memset(block + 148, ' ', 8);
	for (int i = 0; i < TAR_BLOCK; i++)
		sum += block[i];
	snprintf(octal, sizeof(octal), "%06o", sum);
	memcpy(block + 148, octal, 7);
}

static void
put_le32(unsigned char *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)(value >> 8 * i);
}

/* The header of a member of `size` bytes as a gzip member. */
static void
write_header(struct stream *stream, uint64_t size)
{
	/* Deflate, no name, no time, a machine that is not said; a last block
	 * that is stored. */
	static const unsigned char front[15] = { 0x1F, 0x8B, 8, 0, 0, 0, 0, 0,
		0, 0xFF, 1, TAR_BLOCK & 0xFF, TAR_BLOCK >> 8, ~TAR_BLOCK & 0xFF,
		~TAR_BLOCK >> 8 & 0xFF };
	unsigned char bytes[STORED_BYTES];

	memcpy(bytes, front, sizeof(front));
	make_header(bytes + sizeof(front), stream->zip->name, size, time(NULL));
	put_le32(bytes + sizeof(front) + TAR_BLOCK,
	    (uint32_t)crc32(0, bytes + sizeof(front), TAR_BLOCK));
	put_le32(bytes + sizeof(front) + TAR_BLOCK + 4, TAR_BLOCK);
	write_file(stream, bytes, sizeof(bytes));
}

/* Full blocks, and two empty ones. */
static void
end_tar(struct stream *stream, uint64_t size)
{
	static const unsigned char zeros[3 * TAR_BLOCK];
	size_t over = size % TAR_BLOCK;

	stream_put(
	    stream, zeros, 2 * TAR_BLOCK + (over > 0 ? TAR_BLOCK - over : 0));
}

static void
go_back(struct stream *stream, uint64_t size)
{
	errno = 0;
	if (fseeko(stream->file, 0, SEEK_SET) != 0)
		fail(stream);
	write_header(stream, size);
	if (fseeko(stream->file, 0, SEEK_END) != 0)
		fail(stream);
}

/* ---- all of it ---- */

static struct stream_zip *
new_zip(enum stream_kind kind)
{
	struct stream_zip *zip = calloc(1, sizeof(*zip));

	if (zip == NULL)
		abort(); /* out of memory */
	if (kind == STREAM_GZIP) {
		if (deflateInit2(&zip->z, LEVEL, Z_DEFLATED, WINDOW_BITS + GZIP,
			MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
			abort(); /* out of memory */
		return zip;
	}
	zip->pack = pack_block_new(PACK_GZIP);
	zip->block = malloc(BLOCK_BYTES);
	if (zip->block == NULL)
		abort(); /* out of memory */
	return zip;
}

int
stream_begin(struct stream *stream, FILE *file, enum stream_kind kind,
    struct text member, struct err *err)
{
	*stream = (struct stream){ .file = file };
	if (kind == STREAM_TAR_GZIP && fseeko(file, 0, SEEK_SET) != 0)
		return err_set(err, "a tar needs an output that is a file");
	stream->buffer = malloc(STREAM_BUFFER_BYTES);
	if (stream->buffer == NULL)
		abort(); /* out of memory */
	if (kind == STREAM_PLAIN)
		return 0;
	stream->zip = new_zip(kind);
	if (kind == STREAM_GZIP)
		return 0;
	assert(member.bytes <= sizeof(stream->zip->name));
	memcpy(stream->zip->name, member.at, member.bytes);
	write_header(stream, 0);
	return 0;
}

static void
end_zip(struct stream *stream, uint64_t size)
{
	struct stream_zip *zip = stream->zip;

	if (zip->pack == NULL) {
		deflate_all(stream, NULL, 0, Z_FINISH);
		deflateEnd(&zip->z);
	} else {
		pack_all(stream);
		write_packed(stream);
		go_back(stream, size);
	}
	pack_block_free(&zip->pack);
	free(zip->block);
	free(zip);
	stream->zip = NULL;
}

int
stream_end(struct stream *stream, struct err *err)
{
	uint64_t size = stream_bytes(stream);

	if (stream->zip != NULL && stream->zip->pack != NULL)
		end_tar(stream, size);
	stream_flush(stream);
	if (stream->zip != NULL)
		end_zip(stream, size);
	free(stream->buffer);
	stream->buffer = NULL;
	if (stream->err.text[0] == '\0')
		return 0;
	return err_set(err, "%s", stream->err.text);
}
