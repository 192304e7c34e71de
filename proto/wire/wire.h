/*
 * wire - the encoding of messages, and of stored batches.
 *
 * A message is one frame: 16 fixed bytes, a header (one MessagePack array with
 * the same layout for every type), and a body (consecutive records, or what
 * the type defines).  proto/wire.md is normative.  Everything received goes
 * through wire_open() and, before records are read, wire_body(): both check
 * every byte against its bounds without allocating; after them the readers
 * here cannot fail.
 *
 * A new field of the header: header.c; of a record: proto/record/schema.h; of
 * a query: query.c; then wire.md and proto/decode/frame.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_WIRE_WIRE_H
#define PROTO_WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/record/record.h"
#include "proto/wire/wire_writer.h"

enum {
	WIRE_VERSION = 2,
	WIRE_FIXED_BYTES = 16,
	WIRE_HEADER_BYTES_MAX = 1024,
	WIRE_DAMAGED_MAX = 32, /* ids of damaged places in a header */
	WIRE_DAMAGED_BYTES = 8,
	WIRE_FRAME_BYTES_MAX = 256 << 10, /* the whole frame */
	WIRE_BATCH_BYTES = 64 << 10, /* size of a batch that senders aim for */
	WIRE_PUT_BYTES_MAX = 64 << 10, /* a frame to a local socket */
	WIRE_BODY_BYTES_MAX = 4 << 20, /* decompressed */
	WIRE_RECORDS_MAX = 65535,      /* in a batch */
};

/* On the wire: never change a number. */
enum wire_type {
	WIRE_HELLO = 1,   /* sender: my position; which batch is next? */
	WIRE_WELCOME = 2, /* aggregator: send from `expect` */
	WIRE_BATCH = 3,   /* sender: records */
	WIRE_ACK = 4,  /* aggregator: all up to and including seq is stored */
	WIRE_NACK = 5, /* aggregator: not accepted, for `reason` */
	WIRE_BYE = 6, /* sender: the node has stopped in order, or is retired */
	WIRE_GAP = 7, /* sender: seq .. last_seq are lost, for `reason` */
	WIRE_SELECT = 8,  /* reader: query records */
	WIRE_PAGE = 9,    /* answer to select, stats, status, follow */
	WIRE_STATS = 10,  /* reader: query statistics of phases */
	WIRE_STATUS = 11, /* reader: query counters of the process */
	WIRE_PUT = 12,    /* local socket only: records for the spool */
	WIRE_FOLLOW = 13, /* reader: follow the journal from a position */
	WIRE_TYPES
};

enum wire_flag {
	WIRE_FLAG_WAIT = 1,     /* put: also answer when it is stored */
	WIRE_FLAG_LAST = 2,     /* page: this is the last one */
	WIRE_FLAG_STORED = 4,   /* ack of a put: the aggregator has stored it */
	WIRE_FLAG_REJECTED = 8, /* ack: stored as a rejected batch */
	WIRE_FLAG_BY_NODE = 16, /* stats: one row per node */
	WIRE_FLAG_PLAIN = 32,   /* queries: local reader, do not compress */
	/* hello, batch: the session is derived from the content */
	WIRE_FLAG_DERIVED = 64,
	/* page: of what arrived after received_ns, records may be missing */
	WIRE_FLAG_INCOMPLETE = 128,
	/* batch: keep no record that came before in such a batch */
	WIRE_FLAG_ONCE = 256,
	/* ack: of these numbers only, not of those before them */
	WIRE_FLAG_ALONE = 512,
	/* select: phases whose events pair on any nodes come as their events */
	WIRE_FLAG_UNPAIRED = 1024,
	WIRE_FLAG_NEWEST = 2048, /* select: test runs, the newest first */
	WIRE_FLAG_OPEN = 4096,   /* select: of phases those without an end */
	/* nack forbidden: another key or node began the session */
	WIRE_FLAG_TAKEN = 8192,
	/* ... and its records were dropped: it is nobody's any more */
	WIRE_FLAG_DROPPED = 16384,
	/* batch: its records are of an import, no nodes are heard by it */
	WIRE_FLAG_IMPORTED = 32768,
};

enum wire_codec { WIRE_NONE = 0, WIRE_ZSTD = 1 };

/* Why an aggregator refused a message; also the reasons of gaps. */
enum wire_reason {
	WIRE_REASON_NONE = 0,
	WIRE_NACK_GAP = 1,      /* `expect` is the next sequence number */
	WIRE_NACK_BUSY = 2,     /* retry after retry_ms */
	WIRE_NACK_OWNER = 3,    /* another aggregator stores this partition */
	WIRE_NACK_DIVERGED = 4, /* other content has this number */
	WIRE_NACK_UNSUPPORTED = 5, /* unknown type or version */
	WIRE_NACK_FORBIDDEN = 6,
	WIRE_NACK_MALFORMED = 7,
	WIRE_NACK_TOO_BIG = 8,
	WIRE_NACK_FULL = 9, /* local socket: the spool is full */
	WIRE_NACK_IO = 10,  /* the disk or the store failed, see detail */
	/* Query: the answer is being read from an archive; ask again after
	 * retry_ms. */
	WIRE_NACK_FETCHING = 11,
	WIRE_GAP_DAMAGED = 32,  /* spool segment damaged, set aside */
	WIRE_GAP_REFUSED = 33,  /* set aside after a final nack */
	WIRE_GAP_RESTORED = 34, /* lost by the store, deleted by the sender */
	/* Of a restored store: what was delivered since the backup and nobody
	 * has brought again, if anything; from sent_ns on. */
	WIRE_GAP_SINCE_BACKUP = 35,
	WIRE_REASONS
};

/* A header of any type; fields that a type does not use are zero and empty. */
struct wire_header {
	enum wire_type type;
	uint16_t flags;
	struct text partition;
	struct text node; /* of the sender */
	struct session_id session;
	uint64_t seq; /* batch; hello: first unacknowledged */
	uint32_t records;
	uint32_t codec;      /* of the body */
	int64_t sent_ns;     /* sender's wall clock; echoed in answers */
	uint32_t body_bytes; /* decompressed */
	uint64_t chain;    /* running hash before seq; welcome: before expect */
	uint64_t last_seq; /* gap: last lost seq */
	uint32_t reason;
	uint64_t expect; /* next expected seq */
	/* Random; changes when a store is restored.  Hello: of the store that
	 * acknowledged everything before seq; 0: none. */
	uint64_t generation;
	uint32_t credit_bytes; /* that may be in flight unacknowledged */
	uint32_t retry_ms;
	int64_t received_ns;  /* aggregator's wall clock at arrival */
	int64_t answered_ns;  /* aggregator's wall clock when it answered */
	uint64_t chain_after; /* gap: running hash after last_seq */
	struct text detail;   /* nack: why, for people; may be empty */
	/* Page: what the store could not read on its way to these records, as
	 * ids of 8 bytes, each once; and how many more there are. */
	struct text damaged;
	uint64_t damaged_more;
};

/* Why a frame or body was refused.  Always an error of the peer. */
enum wire_fault {
	WIRE_OK,
	WIRE_TRUNCATED, /* shorter than a length in it */
	WIRE_MAGIC,
	WIRE_OTHER_VERSION,
	WIRE_TYPE,
	WIRE_LENGTH, /* length field is not the frame's, or exceeds a limit */
	WIRE_CHECKSUM,
	WIRE_HEADER, /* not the expected array */
	WIRE_NAME,   /* partition or node is not a valid name */
	WIRE_CODEC,  /* unknown codec, damaged, or of the wrong size */
	WIRE_DEPTH,
	WIRE_RECORD, /* a record does not have the form of its kind */
	WIRE_LIMIT,  /* a record exceeds a limit of proto/record/record.h */
	WIRE_COUNT,  /* more or fewer records than in the header */
	WIRE_FAULTS
};
const char *wire_fault_name(enum wire_fault fault);    /* "truncated" ... */
const char *wire_reason_name(enum wire_reason reason); /* "busy" ... */
const char *wire_type_name(enum wire_type type);

/* ---- reading ---- */

/* The version of a frame; WIRE_VERSION for what is none. */
unsigned wire_version(struct text frame);

/* Check a frame and decode its header.  `body` is a view of the bytes after
 * the header, compressed with header->codec.  Partition and node are valid
 * names or empty; hello, batch, gap and bye must have both.  After WIRE_TYPE
 * the header is complete; after any other fault it has only the fields that
 * were read, so that an answer can be addressed. */
enum wire_fault wire_open(
    struct text frame, struct wire_header *header, struct text *body);

/* Decode only the fixed bytes and the header, without the checksum: for a
 * broker, which forwards frames unchanged. */
enum wire_fault wire_peek(struct text frame, struct wire_header *header);

/* Decode a header alone, without the fixed bytes before it; type and flags are
 * in those and stay unchanged.  `rest` gets what follows the header. */
enum wire_fault wire_get_header(
    struct text bytes, struct wire_header *header, struct text *rest);

/* A buffer for one decompressed body: grows up to WIRE_BODY_BYTES_MAX and is
 * reused for the next one.  Must be zeroed before its first use. */
struct wire_room {
	unsigned char *at;
	size_t bytes;
	void *codec; /* the decompressor's state */
};
void wire_room_clear(struct wire_room *room);

/* Is it a batch of an import, whose records are kept once? */
static inline bool
wire_is_once(const struct wire_header *header)
{
	return header->type == WIRE_BATCH &&
	       (header->flags & WIRE_FLAG_ONCE) != 0;
}

/* Decompress `body` if `codec` says so (the size is checked before memory is
 * allocated) and check that it holds exactly `header->records` well-formed
 * records within every limit.  `plain` is then a view of them, valid until the
 * frame or the buffer changes. */
enum wire_fault wire_body(const struct wire_header *header, struct text body,
    struct wire_room *room, struct text *plain);

/* Reads the records of a checked body in order, without allocating. */
struct wire_cursor {
	struct text rest;
	struct text node;    /* from the header or a context record */
	struct record_id id; /* of the next record */
	int64_t receive_ns;  /* set by the reader of a batch */
	uint64_t
	    entry;    /* journal entry of the next record; 0: not in the page */
	bool buckets; /* samples may be buckets (struct wire_query, step_ns) */
	/* Contexts may have session, seq and index, too: of pages, and of
	 * batches of an import. */
	bool full_contexts;
};
/* `plain` is the records of a page or a batch.  For a page node, id and
 * receive_ns come from contexts.  For a batch they come from the header and the
 * caller, unless a context of an import has them. */
void wire_cursor_init(struct wire_cursor *cursor,
    const struct wire_header *header, struct text plain);
/* Fills node, id and receive_ns, too; processes context records and never
 * returns them.  False at the end. */
bool wire_next(struct wire_cursor *cursor, struct record *record);

/* ---- writing ---- */

/* Append one record of any kind but a context: the fields of struct record that
 * the kind uses (see the table there).  `pairs` and `value_bytes` are copied
 * unchanged; build them with the functions below.  False, with `full` set: it
 * does not fit. */
bool wire_put_record(struct wire_writer *w, const struct record *record);
/* The records that follow belong to `node`. */
bool wire_put_context(struct wire_writer *w, struct text node);
/* For pages and imports: the identity of the next record; further ones count
 * on from it. */
bool wire_put_context_full(struct wire_writer *w, const struct record *record);
/* Also its journal entry; 0: omit it. */
bool wire_put_context_entry(
    struct wire_writer *w, const struct record *record, uint64_t entry);

/* Attributes and values, in the form of `record->pairs` and `value_bytes`. */
bool wire_put_attribute(
    struct wire_writer *w, struct text key, const struct value *value);
bool wire_put_text_attribute(
    struct wire_writer *w, struct text key, struct text value);
bool wire_put_value(struct wire_writer *w, const struct value *value);

/* Write a header alone.  Returns its length, or 0 when it exceeds `room` or
 * WIRE_HEADER_BYTES_MAX. */
size_t wire_put_header(void *to, size_t room, const struct wire_header *header);

/* Write a whole frame into `to`: fixed bytes, header, body.  With codec none,
 * body_bytes is set from the body.  Returns its length, or 0 when it exceeds
 * `room` or WIRE_FRAME_BYTES_MAX. */
size_t wire_frame(
    void *to, size_t room, const struct wire_header *header, struct text body);

/* Compress a body (zstd level 1) into `to`.  Returns the length, or 0 when the
 * result would not be smaller than the input or does not fit. */
size_t wire_compress(void *to, size_t room, struct text body);

/* ---- queries (body of WIRE_SELECT, WIRE_STATS, WIRE_FOLLOW) ---- */

struct wire_query {
	uint32_t kinds;   /* bit (1 << enum record_kind) */
	struct text node; /* list (record/node_list.h); empty: all */
	/* pattern (text_match): source:name, metric group, model:phase */
	struct text name;
	int64_t from_ns;    /* time_ns >= from; TIME_MIN_NS: all */
	int64_t to_ns;      /* time_ns < to; TIME_MAX_NS: all */
	struct text cursor; /* empty, or that of the previous page; opaque */
	/* Desired size of the answer's body, a hint; 0: WIRE_PAGE_BYTES. */
	uint32_t page_bytes;
	int64_t step_ns; /* width of the buckets for samples; 0: raw samples */
	/* Patterns with a blank between them: metrics of buckets; pattern:
	 * tracks of spans; empty: all. */
	struct text columns;
	/* With step_ns: how many buckets a record may have.  Without: > 1 asks
	 * for samples as columns. */
	uint32_t per_record;
};
enum {
	WIRE_CURSOR_BYTES_MAX = 64,
	WIRE_QUERY_BYTES_MAX = 10 << 10,
	WIRE_PAGE_BYTES = 224 << 10, /* fits a frame of any listener */
};
size_t wire_put_query(void *to, size_t room, const struct wire_query *query);
enum wire_fault wire_get_query(struct text body, struct wire_query *query);

/* As wire_body, for a page, whose body is the cursor (msgpack bin) and then the
 * records; wire_cursor_init takes `records`. */
enum wire_fault wire_page_body(const struct wire_header *header,
    struct text body, struct wire_room *room, struct text *cursor,
    struct text *records);
bool wire_put_page_cursor(struct wire_writer *w, struct text cursor);

/* A journal position: the cursor of WIRE_FOLLOW. */
struct wire_position {
	uint64_t entry;   /* entry number; UINT64_MAX: the next new one */
	uint32_t records; /* records of it that were returned or skipped */
};
enum { WIRE_POSITION_BYTES = 12 };
void wire_put_position(unsigned char to[static WIRE_POSITION_BYTES],
    const struct wire_position *position);
/* False when it is not a position.  An empty text is entry 0: the oldest
 * one. */
bool wire_get_position(struct text cursor, struct wire_position *position);

#endif
