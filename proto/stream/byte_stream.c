/*
 * byte_stream - stream bytes to an output.
 * SPDX-License-Identifier: MIT
 */
#include "proto/stream/byte_stream.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "proto/base/memory.h"
#include "proto/stream/compress_block.h"
#define ZLIB_CONST /* deflate only reads its input */
#include <zlib.h>

enum {
	LEVEL = 2, /* as fast as 1, and smaller */
	BLOCK_BYTES = 4 * BYTE_STREAM_BUFFER_BYTES, /* a gzip member */
	SEND_BYTES = 8 << 20,
	WINDOW_BITS = 15,
	GZIP = 16, /* zlib: write a gzip header and checksum */
	TAR_BLOCK = 512,
	/* The gzip header, the header of a stored block, the trailer. */
	STORED_BYTES = 10 + 5 + TAR_BLOCK + 8,
};

struct byte_stream_zip {
	z_stream z; /* gzip */
	unsigned char out[BYTE_STREAM_BUFFER_BYTES];

	struct compress_block *pack; /* tar; NULL: gzip */
	unsigned char *block;
	size_t used;    /* bytes in the block */
	char name[100]; /* of the member; NUL-terminated if it fits */
};

/* ---- the file ---- */

static void
fail(struct byte_stream *byte_stream)
{
	if (byte_stream->err.code == ERR_NONE)
		err_set(&byte_stream->err, "%s",
		    strerror(errno != 0 ? errno : EIO));
}

static void
write_file(struct byte_stream *byte_stream, const void *bytes, size_t count)
{
	if (byte_stream->err.code != ERR_NONE)
		return;
	errno = 0;
	if (fwrite(bytes, 1, count, byte_stream->file) != count)
		fail(byte_stream);
	/* Start writing to the disk now, so that the final sync is short.  A
	 * pipe or an old file system may refuse; that does no harm. */
	byte_stream->unsent += count;
	if (byte_stream->unsent >= SEND_BYTES) {
		byte_stream->unsent = 0;
		sync_file_range(
		    fileno(byte_stream->file), 0, 0, SYNC_FILE_RANGE_WRITE);
	}
}

/* ---- gzip ---- */

static void
deflate_all(
    struct byte_stream *byte_stream, const void *bytes, size_t count, int flush)
{
	struct byte_stream_zip *zip = byte_stream->zip;
	int rc;

	zip->z.next_in = bytes;
	zip->z.avail_in = (uInt)count;
	do {
		zip->z.next_out = zip->out;
		zip->z.avail_out = sizeof(zip->out);
		rc = deflate(&zip->z, flush);
		assert(rc != Z_STREAM_ERROR);
		write_file(
		    byte_stream, zip->out, sizeof(zip->out) - zip->z.avail_out);
	} while (zip->z.avail_out == 0);
	assert(flush != Z_FINISH || rc == Z_STREAM_END);
}

/* Write the block that was started before. */
static void
write_packed(struct byte_stream *byte_stream)
{
	struct text packed = compress_block_take(byte_stream->zip->pack);

	if (packed.bytes > 0)
		write_file(byte_stream, packed.at, packed.bytes);
}

/* Archive readers concatenate gzip members.  Gzip decoders in browsers do not:
 * for them the output is a single stream. */
static void
pack_all(struct byte_stream *byte_stream)
{
	struct byte_stream_zip *zip = byte_stream->zip;

	write_packed(byte_stream);
	compress_block_begin(zip->pack, zip->block, zip->used);
	zip->used = 0;
}

static void
add_to_block(struct byte_stream *byte_stream)
{
	struct byte_stream_zip *zip = byte_stream->zip;

	memcpy(zip->block + zip->used, byte_stream->buffer, byte_stream->used);
	zip->used += byte_stream->used;
	if (zip->used + BYTE_STREAM_BUFFER_BYTES > BLOCK_BYTES)
		pack_all(byte_stream);
}

void
byte_stream_flush(struct byte_stream *byte_stream)
{
	if (byte_stream->used == 0)
		return;
	if (byte_stream->zip != NULL && byte_stream->zip->pack != NULL)
		add_to_block(byte_stream);
	else if (byte_stream->zip != NULL)
		deflate_all(byte_stream, byte_stream->buffer, byte_stream->used,
		    Z_NO_FLUSH);
	else if (byte_stream->file != NULL)
		write_file(byte_stream, byte_stream->buffer, byte_stream->used);
	byte_stream->flushed += byte_stream->used;
	byte_stream->used = 0;
}

void
byte_stream_put(
    struct byte_stream *byte_stream, const void *bytes, size_t count)
{
	const unsigned char *from = bytes;

	while (count > 0) {
		size_t room = BYTE_STREAM_BUFFER_BYTES - byte_stream->used;
		size_t part = count < room ? count : room;

		memcpy(byte_stream->buffer + byte_stream->used, from, part);
		byte_stream->used += part;
		from += part;
		count -= part;
		if (byte_stream->used == BYTE_STREAM_BUFFER_BYTES)
			byte_stream_flush(byte_stream);
	}
}

/* ---- tar ---- */

/* Octal; from 8 GiB on the number in binary after a set bit, as GNU tar and
 * every newer tar read it. */
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
	/* The checksum field counts as blanks in the checksum. */
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

/* Write the header of a member of `size` bytes as a gzip member. */
static void
write_header(struct byte_stream *byte_stream, uint64_t size)
{
	/* Deflate, no name, no time, unknown system; then a final stored
	 * block. */
	static const unsigned char front[15] = { 0x1F, 0x8B, 8, 0, 0, 0, 0, 0,
		0, 0xFF, 1, TAR_BLOCK & 0xFF, TAR_BLOCK >> 8, ~TAR_BLOCK & 0xFF,
		~TAR_BLOCK >> 8 & 0xFF };
	unsigned char bytes[STORED_BYTES];

	memcpy(bytes, front, sizeof(front));
	make_header(
	    bytes + sizeof(front), byte_stream->zip->name, size, time(NULL));
	put_le32(bytes + sizeof(front) + TAR_BLOCK,
	    (uint32_t)crc32(0, bytes + sizeof(front), TAR_BLOCK));
	put_le32(bytes + sizeof(front) + TAR_BLOCK + 4, TAR_BLOCK);
	write_file(byte_stream, bytes, sizeof(bytes));
}

/* Fill the last block; two empty blocks end the archive. */
static void
end_tar(struct byte_stream *byte_stream, uint64_t size)
{
	static const unsigned char zeros[3 * TAR_BLOCK];
	size_t over = size % TAR_BLOCK;

	byte_stream_put(byte_stream, zeros,
	    2 * TAR_BLOCK + (over > 0 ? TAR_BLOCK - over : 0));
}

static void
finish_header(struct byte_stream *byte_stream, uint64_t size)
{
	errno = 0;
	if (fseeko(byte_stream->file, 0, SEEK_SET) != 0)
		fail(byte_stream);
	write_header(byte_stream, size);
	if (fseeko(byte_stream->file, 0, SEEK_END) != 0)
		fail(byte_stream);
}

/* ---- interface ---- */

static struct byte_stream_zip *
new_zip(enum byte_stream_kind kind)
{
	struct byte_stream_zip *zip = memory_zero(1, sizeof(*zip));

	if (kind == BYTE_STREAM_GZIP) {
		if (deflateInit2(&zip->z, LEVEL, Z_DEFLATED, WINDOW_BITS + GZIP,
			MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
			memory_exhausted(0);
		return zip;
	}
	zip->pack = compress_block_new(COMPRESS_GZIP);
	zip->block = memory_alloc(BLOCK_BYTES);
	return zip;
}

int
byte_stream_begin(struct byte_stream *byte_stream, FILE *file,
    enum byte_stream_kind kind, struct text member, struct err *err)
{
	*byte_stream = (struct byte_stream){ .file = file };
	if (kind == BYTE_STREAM_TAR_GZIP && fseeko(file, 0, SEEK_SET) != 0)
		return err_set(
		    err, "the output must be a regular file for tar");
	byte_stream->buffer = memory_alloc(BYTE_STREAM_BUFFER_BYTES);
	if (kind == BYTE_STREAM_PLAIN)
		return 0;
	byte_stream->zip = new_zip(kind);
	if (kind == BYTE_STREAM_GZIP)
		return 0;
	assert(member.bytes <= sizeof(byte_stream->zip->name));
	memcpy(byte_stream->zip->name, member.at, member.bytes);
	write_header(byte_stream, 0);
	return 0;
}

static void
end_zip(struct byte_stream *byte_stream, uint64_t size)
{
	struct byte_stream_zip *zip = byte_stream->zip;

	if (zip->pack == NULL) {
		deflate_all(byte_stream, NULL, 0, Z_FINISH);
		deflateEnd(&zip->z);
	} else {
		pack_all(byte_stream);
		write_packed(byte_stream);
		finish_header(byte_stream, size);
	}
	compress_block_free(&zip->pack);
	free(zip->block);
	free(zip);
	byte_stream->zip = NULL;
}

int
byte_stream_end(struct byte_stream *byte_stream, struct err *err)
{
	uint64_t size = byte_stream_bytes(byte_stream);

	if (byte_stream->zip != NULL && byte_stream->zip->pack != NULL)
		end_tar(byte_stream, size);
	byte_stream_flush(byte_stream);
	if (byte_stream->zip != NULL)
		end_zip(byte_stream, size);
	free(byte_stream->buffer);
	byte_stream->buffer = NULL;
	if (byte_stream->err.code == ERR_NONE)
		return 0;
	return err_set(err, "%s", byte_stream->err.text);
}
