/*
 * spool_frame - the bytes of a spool segment: its header and its frames.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/frame.h"

#include <string.h>

#include "proto/hash/crc32c.h"

static const unsigned char head_magic[4] = "PSSG";
static const unsigned char frame_magic[4] = "PSFR";

void
spool_put32(unsigned char *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)(value >> 8 * i);
}

void
spool_put64(unsigned char *to, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		to[i] = (unsigned char)(value >> 8 * i);
}

uint32_t
spool_get32(const unsigned char *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

uint64_t
spool_get64(const unsigned char *at)
{
	return spool_get32(at) | (uint64_t)spool_get32(at + 4) << 32;
}

void
spool_put_head(
    unsigned char to[static SPOOL_HEAD_BYTES], const struct spool_head *head)
{
	memset(to, 0, SPOOL_HEAD_BYTES);
	memcpy(to, head_magic, 4);
	spool_put32(to + 4, SPOOL_FORMAT);
	memcpy(to + 8, head->session.bytes, 16);
	spool_put64(to + 24, head->number);
	spool_put64(to + 32, head->salt);
	memcpy(to + 40, head->origin.bytes, 16);
	spool_put32(to + 60, crc32c(0, to, 60));
	memcpy(to + SPOOL_HEAD_COPY, to, SPOOL_HEAD_ONE);
}

static bool
is_head(const unsigned char *at)
{
	return memcmp(at, head_magic, 4) == 0 &&
	       spool_get32(at + 60) == crc32c(0, at, 60);
}

/* The first valid copy; NULL: there is none. */
static const unsigned char *
find_head(const unsigned char *at)
{
	if (is_head(at))
		return at;
	return is_head(at + SPOOL_HEAD_COPY) ? at + SPOOL_HEAD_COPY : NULL;
}

bool
spool_get_head(
    const unsigned char at[static SPOOL_HEAD_BYTES], struct spool_head *head)
{
	at = find_head(at);
	if (at == NULL || spool_get32(at + 4) != SPOOL_FORMAT)
		return false;
	memcpy(head->session.bytes, at + 8, 16);
	head->number = spool_get64(at + 24);
	head->salt = spool_get64(at + 32);
	memcpy(head->origin.bytes, at + 40, 16);
	return true;
}

bool
spool_head_is_whole(const unsigned char at[static SPOOL_HEAD_BYTES])
{
	return is_head(at) &&
	       memcmp(at, at + SPOOL_HEAD_COPY, SPOOL_HEAD_ONE) == 0;
}

uint32_t
spool_head_format(const unsigned char at[static SPOOL_HEAD_BYTES])
{
	at = find_head(at);
	return at != NULL ? spool_get32(at + 4) : 0;
}

static uint32_t
frame_crc(const unsigned char *at, uint64_t salt, uint32_t span)
{
	unsigned char salted[16];

	spool_put64(salted, salt);
	memcpy(salted + 8, at, 8);
	return crc32c(crc32c(0, salted, 16), at + 12, span - 12);
}

void
spool_put_frame(unsigned char *to, uint64_t salt, struct spool_frame *frame,
    const void *body)
{
	uint32_t span = spool_span(frame->bytes);

	memcpy(to, frame_magic, 4);
	spool_put32(to + 4, frame->bytes);
	to[12] = (unsigned char)frame->type;
	to[13] = (unsigned char)frame->codec;
	to[14] = (unsigned char)frame->stream;
	to[15] = (unsigned char)(frame->stream >> 8);
	spool_put64(to + 16, frame->seq);
	spool_put64(to + 24, frame->last_seq);
	spool_put64(to + 32, frame->chain);
	spool_put32(to + 40, frame->records);
	spool_put32(to + 44, frame->body_bytes);
	spool_put32(to + 48, 0);
	spool_put32(to + 52, frame->back);
	if (frame->bytes > 0)
		memcpy(to + SPOOL_FRAME_BYTES, body, frame->bytes);
	memset(to + SPOOL_FRAME_BYTES + frame->bytes, 0,
	    span - SPOOL_FRAME_BYTES - frame->bytes);
	frame->crc = frame_crc(to, salt, span);
	spool_put32(to + 8, frame->crc);
}

static bool
frame_is_plausible(const struct spool_frame *f, uint32_t offset, uint32_t size)
{
	if (f->bytes > SPOOL_BATCH_BYTES_MAX ||
	    spool_span(f->bytes) > size - offset ||
	    f->back > offset - SPOOL_HEAD_BYTES)
		return false;
	switch (f->type) {
	case SPOOL_BATCH:
		return f->seq > 0 && f->last_seq == f->seq &&
		       f->seq < UINT64_MAX && f->stream < SPOOL_STREAMS_MAX;
	case SPOOL_MOVED:
		return f->seq > 0 && f->seq < UINT64_MAX && f->last_seq > 0 &&
		       f->last_seq < UINT64_MAX &&
		       f->stream < SPOOL_STREAMS_MAX;
	case SPOOL_STREAM:
		return f->bytes > 0 && f->bytes <= NAME_BYTES_MAX &&
		       f->stream < SPOOL_STREAMS_MAX;
	case SPOOL_SEAL: return f->bytes == 0;
	case SPOOL_END:
		return f->seq > 0 && f->seq < UINT64_MAX / 2 &&
		       f->bytes > sizeof(struct session_id) &&
		       f->bytes <= sizeof(struct session_id) + NAME_BYTES_MAX &&
		       f->stream < SPOOL_STREAMS_MAX;
	}
	return false;
}

bool
spool_peek_frame(const unsigned char at[static SPOOL_FRAME_BYTES],
    uint32_t offset, uint32_t size, struct spool_frame *frame)
{
	if (memcmp(at, frame_magic, 4) != 0 ||
	    size - offset < SPOOL_FRAME_BYTES)
		return false;
	*frame = (struct spool_frame){
		.type = (enum spool_type)at[12],
		.bytes = spool_get32(at + 4),
		.crc = spool_get32(at + 8),
		.codec = at[13],
		.stream = at[14] | (uint32_t)at[15] << 8,
		.seq = spool_get64(at + 16),
		.last_seq = spool_get64(at + 24),
		.chain = spool_get64(at + 32),
		.records = spool_get32(at + 40),
		.body_bytes = spool_get32(at + 44),
		.back = spool_get32(at + 52),
	};
	return frame_is_plausible(frame, offset, size);
}

bool
spool_frame_is_whole(
    const unsigned char *at, uint64_t salt, const struct spool_frame *frame)
{
	return frame->crc == frame_crc(at, salt, spool_span(frame->bytes));
}
