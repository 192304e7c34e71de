/*
 * wire_header - frames and their headers.
 * SPDX-License-Identifier: MIT
 */
#include "proto/wire/wire.h"

#include "proto/hash/crc32c.h"
#include "proto/msgpack/walk.h"
#include "proto/wire/packer.h"

enum {
	AT_VERSION = 4,
	AT_TYPE = 5,
	AT_FLAGS = 6,
	AT_LENGTH = 8,
	AT_CRC32C = 12,
	HEADER_ELEMENTS_MIN = 7, /* a shorter array may end after these */
};

static const unsigned char magic[4] = { 'P', 'S', 'C', 'P' };

/* The elements of the header, in order. */
enum form { FORM_TEXT, FORM_SESSION, FORM_U64, FORM_U32, FORM_I64, FORM_IDS };
static const struct element {
	enum form form;
	size_t offset;
} elements[] = {
#define ELEMENT(form, field)                                                   \
	{                                                                      \
		form, offsetof(struct wire_header, field)                      \
	}
	ELEMENT(FORM_TEXT, partition),
	ELEMENT(FORM_TEXT, node),
	ELEMENT(FORM_SESSION, session),
	ELEMENT(FORM_U64, seq),
	ELEMENT(FORM_U32, records),
	ELEMENT(FORM_U32, codec),
	ELEMENT(FORM_I64, sent_ns),
	ELEMENT(FORM_U32, body_bytes),
	ELEMENT(FORM_U64, chain),
	ELEMENT(FORM_U64, last_seq),
	ELEMENT(FORM_U32, reason),
	ELEMENT(FORM_U64, expect),
	ELEMENT(FORM_U64, generation),
	ELEMENT(FORM_U32, credit_bytes),
	ELEMENT(FORM_U32, retry_ms),
	ELEMENT(FORM_I64, received_ns),
	ELEMENT(FORM_I64, answered_ns),
	ELEMENT(FORM_U64, chain_after),
	ELEMENT(FORM_TEXT, detail), /* these three only where one is needed */
	ELEMENT(FORM_IDS, damaged),
	ELEMENT(FORM_U64, damaged_more),
#undef ELEMENT
};
enum {
	HEADER_ELEMENTS = sizeof(elements) / sizeof(elements[0]),
	HEADER_ELEMENTS_USUAL = HEADER_ELEMENTS - 3,
};

/* ---- little-endian fields of the fixed part ---- */

static uint32_t
get32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static void
put32(unsigned char *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static uint32_t
checksum(const unsigned char *frame, size_t bytes)
{
	return crc32c(crc32c(0, frame, AT_CRC32C), frame + WIRE_FIXED_BYTES,
	    bytes - WIRE_FIXED_BYTES);
}

/* ---- reading ---- */

static void
get_session(struct walk *walk, struct session_id *session)
{
	struct text bytes = walk_bin(walk);

	if (bytes.bytes == sizeof(session->bytes))
		memcpy(session->bytes, bytes.at, sizeof(session->bytes));
	else if (bytes.bytes > 0) /* empty: this type does not use it */
		walk_fail(walk, WALK_LIMIT);
}

static void
get_ids(struct walk *walk, struct text *ids)
{
	*ids = walk_bin(walk);
	if (ids->bytes % WIRE_DAMAGED_BYTES != 0 ||
	    ids->bytes > WIRE_DAMAGED_MAX * WIRE_DAMAGED_BYTES)
		walk_fail(walk, WALK_LIMIT);
}

static void
get_element(struct walk *walk, const struct element *element, void *header)
{
	void *to = (char *)header + element->offset;

	switch (element->form) {
	case FORM_TEXT:
		*(struct text *)to = walk_line(walk, NAME_BYTES_MAX);
		break;
	case FORM_SESSION: get_session(walk, to); break;
	case FORM_IDS: get_ids(walk, to); break;
	case FORM_U64: *(uint64_t *)to = walk_uint(walk); break;
	case FORM_U32: *(uint32_t *)to = walk_uint32(walk); break;
	case FORM_I64: *(int64_t *)to = walk_int(walk); break;
	}
}

/* Every message that creates records of a stream, or is about a node, must name
 * partition and node. */
static bool
requires_names(enum wire_type type)
{
	return type == WIRE_BATCH || type == WIRE_HELLO || type == WIRE_GAP ||
	       type == WIRE_BYE;
}

enum wire_fault
wire_get_header(
    struct text bytes, struct wire_header *header, struct text *rest)
{
	struct walk walk;
	uint32_t count;
	struct text room = bytes;

	if (room.bytes > WIRE_HEADER_BYTES_MAX)
		room.bytes = WIRE_HEADER_BYTES_MAX;
	walk = walk_over(room);
	count = walk_array(&walk);
	if (count < HEADER_ELEMENTS_MIN)
		return WIRE_HEADER;
	for (uint32_t i = 0; i < count && i < HEADER_ELEMENTS; i++)
		get_element(&walk, &elements[i], header);
	if (count > HEADER_ELEMENTS)
		walk_skip(&walk, count - HEADER_ELEMENTS, 1);
	if (walk.fault != WALK_OK)
		return walk.fault == WALK_TEXT    ? WIRE_NAME
		       : walk.fault == WALK_DEPTH ? WIRE_DEPTH
						  : WIRE_HEADER;
	rest->bytes = bytes.bytes - (room.bytes - walk_bytes_left(&walk));
	rest->at = bytes.at + (bytes.bytes - rest->bytes);
	if (count == HEADER_ELEMENTS_MIN && header->codec == WIRE_NONE)
		header->body_bytes = rest->bytes;
	return WIRE_OK;
}

unsigned
wire_version(struct text frame)
{
	const unsigned char *p = (const unsigned char *)frame.at;

	return frame.bytes >= WIRE_FIXED_BYTES &&
		       memcmp(p, magic, sizeof(magic)) == 0
		   ? p[AT_VERSION]
		   : WIRE_VERSION;
}

/* Read the fixed bytes; `rest` gets what follows them, with the length that
 * they give. */
static enum wire_fault
get_fixed(struct text frame, struct wire_header *header, struct text *rest)
{
	const unsigned char *p = (const unsigned char *)frame.at;
	uint32_t length;

	*header = (struct wire_header){ 0 };
	if (frame.bytes < WIRE_FIXED_BYTES)
		return WIRE_TRUNCATED;
	if (memcmp(p, magic, sizeof(magic)) != 0)
		return WIRE_MAGIC;
	header->type = (enum wire_type)p[AT_TYPE];
	header->flags = (uint16_t)(p[AT_FLAGS] | p[AT_FLAGS + 1] << 8);
	if (p[AT_VERSION] != WIRE_VERSION)
		return WIRE_OTHER_VERSION;
	length = get32(p + AT_LENGTH);
	if (frame.bytes > WIRE_FRAME_BYTES_MAX)
		return WIRE_LENGTH;
	if (length != frame.bytes - WIRE_FIXED_BYTES)
		return length > frame.bytes - WIRE_FIXED_BYTES ? WIRE_TRUNCATED
							       : WIRE_LENGTH;
	*rest = (struct text){ frame.at + WIRE_FIXED_BYTES, length };
	return WIRE_OK;
}

static enum wire_fault
get_frame_header(
    struct text rest, struct wire_header *header, struct text *body)
{
	enum wire_fault fault = wire_get_header(rest, header, body);

	if (fault != WIRE_OK)
		return fault;
	if (header->type < WIRE_HELLO || header->type >= WIRE_TYPES)
		return WIRE_TYPE;
	if (requires_names(header->type) &&
	    (header->partition.bytes == 0 || header->node.bytes == 0))
		return WIRE_NAME;
	return WIRE_OK;
}

enum wire_fault
wire_open(struct text frame, struct wire_header *header, struct text *body)
{
	const unsigned char *p = (const unsigned char *)frame.at;
	struct text rest;
	enum wire_fault fault = get_fixed(frame, header, &rest);

	*body = (struct text){ 0 };
	if (fault != WIRE_OK)
		return fault;
	if (get32(p + AT_CRC32C) != checksum(p, frame.bytes))
		return WIRE_CHECKSUM;
	return get_frame_header(rest, header, body);
}

enum wire_fault
wire_peek(struct text frame, struct wire_header *header)
{
	struct text rest, body;
	enum wire_fault fault = get_fixed(frame, header, &rest);

	return fault == WIRE_OK ? get_frame_header(rest, header, &body) : fault;
}

/* ---- writing ---- */

static void
put_element(struct wire_writer *w, const struct element *element,
    const struct wire_header *header)
{
	const void *from = (const char *)header + element->offset;

	switch (element->form) {
	case FORM_TEXT: wire_packer_text(w, *(const struct text *)from); break;
	case FORM_SESSION:
		wire_packer_bytes(w, from, sizeof(struct session_id));
		break;
	case FORM_IDS:
		wire_packer_bytes(w, ((const struct text *)from)->at,
		    ((const struct text *)from)->bytes);
		break;
	case FORM_U64: wire_packer_uint64(w, *(const uint64_t *)from); break;
	case FORM_U32: wire_packer_uint32(w, *(const uint32_t *)from); break;
	case FORM_I64: wire_packer_int64(w, *(const int64_t *)from); break;
	}
}

size_t
wire_put_header(void *to, size_t room, const struct wire_header *header)
{
	uint32_t count = HEADER_ELEMENTS;
	struct wire_writer w;

	wire_writer_init(&w, to,
	    room < WIRE_HEADER_BYTES_MAX ? room : WIRE_HEADER_BYTES_MAX);
	if (header->damaged.bytes == 0 && header->damaged_more == 0)
		count = header->detail.bytes > 0 ? HEADER_ELEMENTS_USUAL + 1
						 : HEADER_ELEMENTS_USUAL;
	wire_packer_array(&w, count);
	for (size_t i = 0; i < count; i++)
		put_element(&w, &elements[i], header);
	return w.full ? 0 : w.bytes;
}

size_t
wire_frame(
    void *to, size_t room, const struct wire_header *header, struct text body)
{
	unsigned char *p = to;
	struct wire_header exact = *header;
	size_t bytes, header_bytes;

	if (room > WIRE_FRAME_BYTES_MAX)
		room = WIRE_FRAME_BYTES_MAX;
	if (room < WIRE_FIXED_BYTES)
		return 0;
	if (header->codec == WIRE_NONE)
		exact.body_bytes = body.bytes;
	header_bytes = wire_put_header(
	    p + WIRE_FIXED_BYTES, room - WIRE_FIXED_BYTES, &exact);
	bytes = WIRE_FIXED_BYTES + header_bytes;
	if (header_bytes == 0 || body.bytes > room - bytes)
		return 0;
	if (body.bytes > 0)
		memcpy(p + bytes, body.at, body.bytes);
	bytes += body.bytes;
	memcpy(p, magic, sizeof(magic));
	p[AT_VERSION] = WIRE_VERSION;
	p[AT_TYPE] = (unsigned char)header->type;
	p[AT_FLAGS] = (unsigned char)(header->flags & 0xff);
	p[AT_FLAGS + 1] = (unsigned char)(header->flags >> 8);
	put32(p + AT_LENGTH, (uint32_t)(bytes - WIRE_FIXED_BYTES));
	put32(p + AT_CRC32C, checksum(p, bytes));
	return bytes;
}

static const char *
word(const char *const *words, size_t count, unsigned i)
{
	return i < count && words[i] ? words[i] : "unknown";
}

const char *
wire_fault_name(enum wire_fault fault)
{
	static const char *const words[WIRE_FAULTS] = {
		[WIRE_OK] = "ok",
		[WIRE_TRUNCATED] = "truncated",
		[WIRE_MAGIC] = "magic",
		[WIRE_OTHER_VERSION] = "version",
		[WIRE_TYPE] = "type",
		[WIRE_LENGTH] = "length",
		[WIRE_CHECKSUM] = "checksum",
		[WIRE_HEADER] = "header",
		[WIRE_NAME] = "name",
		[WIRE_CODEC] = "codec",
		[WIRE_DEPTH] = "depth",
		[WIRE_RECORD] = "record",
		[WIRE_LIMIT] = "limit",
		[WIRE_COUNT] = "count",
	};

	return word(words, WIRE_FAULTS, fault);
}

const char *
wire_reason_name(enum wire_reason reason)
{
	static const char *const words[WIRE_REASONS] = {
		[WIRE_REASON_NONE] = "none",
		[WIRE_NACK_GAP] = "gap",
		[WIRE_NACK_BUSY] = "busy",
		[WIRE_NACK_OWNER] = "owner",
		[WIRE_NACK_DIVERGED] = "diverged",
		[WIRE_NACK_UNSUPPORTED] = "unsupported",
		[WIRE_NACK_FORBIDDEN] = "forbidden",
		[WIRE_NACK_MALFORMED] = "malformed",
		[WIRE_NACK_TOO_BIG] = "too-big",
		[WIRE_NACK_FULL] = "full",
		[WIRE_NACK_IO] = "io",
		[WIRE_NACK_FETCHING] = "fetching",
		[WIRE_GAP_DAMAGED] = "damaged",
		[WIRE_GAP_REFUSED] = "refused",
		[WIRE_GAP_RESTORED] = "restored",
		[WIRE_GAP_SINCE_BACKUP] = "since-backup",
	};

	return word(words, WIRE_REASONS, reason);
}

const char *
wire_type_name(enum wire_type type)
{
	static const char *const words[] = {
		[WIRE_HELLO] = "hello",
		[WIRE_WELCOME] = "welcome",
		[WIRE_BATCH] = "batch",
		[WIRE_ACK] = "ack",
		[WIRE_NACK] = "nack",
		[WIRE_BYE] = "bye",
		[WIRE_GAP] = "gap",
		[WIRE_SELECT] = "select",
		[WIRE_PAGE] = "page",
		[WIRE_STATS] = "stats",
		[WIRE_STATUS] = "status",
		[WIRE_PUT] = "put",
		[WIRE_FOLLOW] = "follow",
	};

	return word(words, sizeof(words) / sizeof(words[0]), type);
}
