/*
 * wire - the bytes of a message, and of a batch at rest.
 *
 * A message is one frame: 16 fixed bytes, a header (one MessagePack array,
 * the same layout for every type), a body (records one after another, or what
 * the type says).  proto/wire.md is normative.  Everything received goes
 * through wire_open() and, before records are read, wire_body(): both walk
 * every byte against its bounds without allocating; after them the readers
 * here cannot fail.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_WIRE_WIRE_H
#define PROTO_WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/record/record.h"

enum {
	WIRE_VERSION = 1,
	WIRE_FIXED_BYTES = 16,
	WIRE_HEADER_BYTES_MAX = 1024,
	WIRE_FRAME_BYTES_MAX = 256 << 10, /* all of it */
	WIRE_BATCH_BYTES = 64 << 10,      /* what senders aim at */
	WIRE_PUT_BYTES_MAX = 64 << 10,    /* a frame at the local listener */
	WIRE_BODY_BYTES_MAX = 4 << 20,    /* decompressed */
	WIRE_RECORDS_MAX = 65535,         /* in a batch */
};

/* On the wire: never change a number. */
enum wire_type {
	WIRE_HELLO = 1, /* sender: my stream is at seq, chain; what is next? */
	WIRE_WELCOME = 2, /* aggregator: send from `expect` on */
	WIRE_BATCH = 3,
	WIRE_ACK = 4,     /* all up to and including seq are kept */
	WIRE_NACK = 5,    /* not taken, `reason` says why */
	WIRE_BYE = 6,     /* sender: nothing more is coming (informational) */
	WIRE_GAP = 7,     /* sender: seq .. last_seq are lost, `reason` */
	WIRE_SELECT = 8,  /* reader: records, please */
	WIRE_PAGE = 9,    /* the answer to select, stats, status, follow */
	WIRE_STATS = 10,  /* reader: statistics of phases */
	WIRE_STATUS = 11, /* reader: counters of the process */
	WIRE_PUT = 12,    /* local listener only: records for the spool */
	WIRE_FOLLOW = 13, /* reader: the journal from here on */
	WIRE_TYPES
};

enum wire_flag {
	WIRE_FLAG_WAIT = 1, /* put: answer again once the aggregator has it */
	WIRE_FLAG_LAST = 2, /* page: there is no next one */
	WIRE_FLAG_STORED =
	    4, /* ack at the local listener: the aggregator has it */
	WIRE_FLAG_REJECTED = 8, /* ack: kept as a dead letter */
	WIRE_FLAG_BY_NODE = 16, /* stats: a row a node */
	WIRE_FLAG_PLAIN = 32,   /* questions: near enough, do not compress */
	WIRE_FLAG_SAME = 64     /* welcome: the store has the hello's chain */
};

enum wire_codec { WIRE_NONE = 0, WIRE_ZSTD = 1 };

/* Why an aggregator did not take something; also reasons of gaps. */
enum wire_reason {
	WIRE_REASON_NONE = 0,
	WIRE_NACK_GAP = 1,        /* expect says what is next */
	WIRE_NACK_BUSY = 2,       /* come back in retry_ms */
	WIRE_NACK_OWNER = 3,      /* this partition is kept elsewhere */
	WIRE_NACK_SUPERSEDED = 4, /* a newer run of this session exists */
	WIRE_NACK_DIVERGED = 5,   /* same numbers, other content: new session */
	WIRE_NACK_UNSUPPORTED = 6, /* type or version not spoken here */
	WIRE_NACK_FORBIDDEN = 7,
	WIRE_NACK_MALFORMED = 8,
	WIRE_NACK_TOO_BIG = 9,
	WIRE_NACK_FULL = 10, /* local listener: the spool's bound is reached */
	WIRE_NACK_IO = 11,   /* local listener: the disk refused */
	WIRE_GAP_DAMAGED = 32,  /* spool segment damaged, set aside */
	WIRE_GAP_REFUSED = 33,  /* set aside after a final nack */
	WIRE_GAP_RESTORED = 34, /* store older than what was forgotten */
	WIRE_REASONS
};

/* A header of any type; what a type does not use is zero and empty. */
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
	uint64_t chain;      /* before this batch; ack: at seq */
	uint64_t last_seq;   /* gap: the last one lost */
	uint32_t reason;
	uint64_t expect;       /* next seq wanted */
	uint64_t generation;   /* random; changes when a store is restored */
	uint32_t credit_bytes; /* may be under way unacknowledged */
	uint32_t retry_ms;
	int64_t received_ns; /* aggregator's wall clock when it arrived ... */
	int64_t answered_ns; /* ... and when the answer left */
	uint64_t run;   /* sender's start, counted; answers: the boundary */
	uint64_t after; /* gap: the chain behind it */
};

/* Why a frame or body was refused.  The peer's fault, never ours. */
enum wire_fault {
	WIRE_OK,
	WIRE_TRUNCATED, /* shorter than a length in it says */
	WIRE_MAGIC,
	WIRE_OTHER_VERSION,
	WIRE_TYPE,
	WIRE_LENGTH, /* length field and frame disagree, or over a limit */
	WIRE_CHECKSUM,
	WIRE_HEADER, /* not the array that it should be */
	WIRE_NAME,   /* partition or node breaks the rules for names */
	WIRE_CODEC,  /* unknown, damaged, or not the size it claimed */
	WIRE_DEPTH,
	WIRE_RECORD, /* a record is not what its kind says */
	WIRE_LIMIT,  /* a record breaks a limit of proto/record/record.h */
	WIRE_COUNT,  /* more or fewer records than the header says */
	WIRE_FAULTS
};
const char *wire_fault_name(enum wire_fault fault);    /* "truncated" ... */
const char *wire_reason_name(enum wire_reason reason); /* "busy" ... */
const char *wire_type_name(enum wire_type type);

/* ---- reading ---- */

/* Check a frame and take its header apart.  `body` is a view of what follows
 * the header, still compressed when header->codec says so.  Partition and
 * node are names; only hello, batch and gap must have both.  After WIRE_TYPE
 * the header is whole, after any other fault only what was read is in it: an
 * answer can be addressed. */
enum wire_fault wire_open(
    struct text frame, struct wire_header *header, struct text *body);

/* Only the fixed bytes and the header (no checksum): for a broker, which
 * passes frames on unchanged. */
enum wire_fault wire_peek(struct text frame, struct wire_header *header);

/* A header alone, as it stands behind the fixed bytes (type and flags are in
 * those and are left as they are).  `rest` is what follows it. */
enum wire_fault wire_get_header(
    struct text bytes, struct wire_header *header, struct text *rest);

/* Room for one decompressed body: grows up to WIRE_BODY_BYTES_MAX, is kept
 * for the next one.  All zero to begin with. */
struct wire_room {
	unsigned char *at;
	size_t bytes;
	void *codec; /* the decompressor's state */
};
void wire_room_clear(struct wire_room *room);

/* Decompress `body` (when `codec` says so; the size is checked before memory
 * is taken) and check that it holds exactly `header->records` well-formed
 * records within every limit.  `plain` is then a view of them, valid until
 * the frame or the room changes. */
enum wire_fault wire_body(const struct wire_header *header, struct text body,
    struct wire_room *room, struct text *plain);

/* Reads the records of a checked body in order, without allocating. */
struct wire_cursor {
	struct text rest;
	struct text node;    /* in force; from header or context record */
	struct record_id id; /* of the next record */
	int64_t receive_ns;  /* a batch's reader sets it */
	uint64_t entry;      /* of the journal, that the next record is of;
				0: the page does not say */
	bool buckets;        /* samples may be (struct wire_query, step_ns) */
	bool full_contexts;  /* they say session, seq, index too: never
				believed in batches and puts */
};
/* For a page `rest` is its records, and node and id come from the contexts;
 * for a batch both come from the header, and receive_ns is 0. */
void wire_cursor_init(struct wire_cursor *cursor,
    const struct wire_header *header, struct text plain);
/* Fills node, id and receive_ns too; context records are taken in here and
 * never returned.  False at the end. */
bool wire_next(struct wire_cursor *cursor, struct record *record);

/* ---- writing ---- */

/* A body under construction: a caller's buffer with a hard end.  `full` is
 * sticky: when it is set the record that did not fit was taken back whole. */
struct wire_writer {
	unsigned char *at;
	size_t bytes;     /* written */
	size_t room;      /* of the buffer */
	uint32_t records; /* context records do not count */
	bool full;
};
void wire_writer_init(struct wire_writer *w, void *buffer, size_t room);

/* Append one record of kinds event, sample, span, entity, gap, phase, dead:
 * the fields of struct record that the kind uses (see the table there).
 * `record->pairs` / `value_bytes` are copied as they are; build them with the
 * functions below.  False, and `full`, when it does not fit. */
bool wire_put_record(struct wire_writer *w, const struct record *record);
/* Records that follow are of `node`. */
bool wire_put_context(struct wire_writer *w, struct text node);
/* The form that pages use: who the next record is. */
bool wire_put_context_full(struct wire_writer *w, const struct record *record);
/* The same, and of which entry of the journal; 0: it is not said. */
bool wire_put_context_entry(
    struct wire_writer *w, const struct record *record, uint64_t entry);

/* Attributes and values, as `record->pairs` and `value_bytes` want them. */
bool wire_put_attribute(
    struct wire_writer *w, struct text key, const struct value *value);
bool wire_put_text_attribute(
    struct wire_writer *w, struct text key, struct text value);
bool wire_put_value(struct wire_writer *w, const struct value *value);

/* Write a header alone.  Returns its length, or 0 when it does not fit `room`
 * or WIRE_HEADER_BYTES_MAX. */
size_t wire_put_header(void *to, size_t room, const struct wire_header *header);

/* Write a whole frame into `to`: fixed bytes, header, body.  With codec none
 * body_bytes is taken from the body.  Returns its length, or 0 when it does
 * not fit `room` or WIRE_FRAME_BYTES_MAX. */
size_t wire_frame(
    void *to, size_t room, const struct wire_header *header, struct text body);

/* Compress a body (zstd level 1) into `to`.  Returns the length, or 0 when
 * the result would not be smaller than the input or not fit. */
size_t wire_compress(void *to, size_t room, struct text body);

/* ---- questions of readers (body of WIRE_SELECT, WIRE_STATS, WIRE_FOLLOW)
 * ---- */

struct wire_query {
	uint32_t kinds;      /* bit (1 << enum record_kind) */
	struct text node;    /* pattern (text_match); empty: all */
	struct text name;    /* pattern for source:name, set, model:phase */
	int64_t from_ns;     /* time_ns >= from; TIME_MIN_NS: all */
	int64_t to_ns;       /* time_ns < to; TIME_MAX_NS: all */
	struct text cursor;  /* empty, or what the last page gave; opaque */
	uint32_t page_bytes; /* wanted size of the answer's body, a hint */
	int64_t step_ns;     /* samples as buckets this wide; 0: themselves */
	struct text columns; /* pattern for metrics of buckets, and for tracks
				of spans; empty: all */
	uint32_t run;        /* > 1: a record may be so many buckets; without
				step_ns samples come as columns */
};
enum { WIRE_CURSOR_BYTES_MAX = 64, WIRE_QUERY_BYTES_MAX = 2048 };
size_t wire_put_query(void *to, size_t room, const struct wire_query *query);
enum wire_fault wire_get_query(struct text body, struct wire_query *query);

/* A page's body: the cursor (msgpack bin), then records.  Splits a plain page
 * body; `records` is what wire_cursor_init wants.  wire_page_body is to pages
 * what wire_body is to batches. */
enum wire_fault wire_page_body(const struct wire_header *header,
    struct text body, struct wire_room *room, struct text *cursor,
    struct text *records);
bool wire_put_page_cursor(struct wire_writer *w, struct text cursor);

/* A place in the journal: the cursor of WIRE_FOLLOW. */
struct wire_position {
	uint64_t entry;   /* number; UINT64_MAX: the one that is next */
	uint32_t records; /* of it that were given or passed */
};
enum { WIRE_POSITION_BYTES = 12 };
void wire_put_position(unsigned char to[static WIRE_POSITION_BYTES],
    const struct wire_position *place);
/* False when it is none.  An empty one is entry 0: the oldest there is. */
bool wire_get_position(struct text cursor, struct wire_position *place);

#endif
