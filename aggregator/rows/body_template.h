/*
 * body_template - bodies of records, split into what many have in common (the
 * template) and what differs (the fields).
 *
 * A template is a list of steps that write a body.  A step writes constant
 * bytes, or a field: the value of a column in a given encoding.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROWS_BODY_TEMPLATE_H
#define AGGREGATOR_ROWS_BODY_TEMPLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/varint.h"
#include "proto/record/record.h"

/* Stored on disk: never change a number. */
enum body_template_step {
	BODY_TEMPLATE_BYTES = 0,  /* constant bytes: a text follows */
	BODY_TEMPLATE_RAW = 1,    /* text column: its bytes */
	BODY_TEMPLATE_VALUE = 2,  /* value column: MessagePack, shortest form */
	BODY_TEMPLATE_VARINT = 3, /* int column: a varint */
	BODY_TEMPLATE_ZIGZAG = 4, /* int column: a varint of its zigzag */
};

/* The body of an event of a phase: these flags, [node], [duration], attributes
 * (aggregator/phases/part_row.c). */
enum body_template_phase {
	BODY_TEMPLATE_PHASE_MEASURED = 1, /* a duration: a zigzag varint */
	BODY_TEMPLATE_PHASE_NODE = 2,     /* a node: a varint */
};

/* The columns of a chunk before those of the fields. */
enum body_template_column {
	BODY_TEMPLATE_SERIES_BLOCK_NODE, /* one value for each series block */
	BODY_TEMPLATE_SERIES_BLOCK_TRACK,
	BODY_TEMPLATE_SERIES_BLOCK_ROWS,
	BODY_TEMPLATE_TIME,         /* one for each row */
	BODY_TEMPLATE_BATCH_STREAM, /* one for each batch */
	BODY_TEMPLATE_BATCH_SEQ,
	BODY_TEMPLATE_BATCH_RECEIVE,
	/* One for each row, in the order that BODY_TEMPLATE_ORDER gives. */
	BODY_TEMPLATE_BATCH,
	BODY_TEMPLATE_INDEX,
	/* A single value: 0 for row order, 1 for time order. */
	BODY_TEMPLATE_ORDER,
	BODY_TEMPLATE_NUMBER, /* of the template; one for each row */
	BODY_TEMPLATE_TEXT,   /* one for each template: its steps */
	BODY_TEMPLATE_COLUMNS
};

/* The parts of a body after the split. */
struct body_template_body {
	struct buffer template;
	struct buffer literal; /* constant bytes not yet in the template */
	struct text *field;    /* of all bodies in sequence */
	uint32_t fields, room;
};
void body_template_body_clear(struct body_template_body *body);

/* Split a body: set `to->template`, append its fields to `to->field`.  With
 * `loosely` names are fields, too.  A body in an encoding that we would not
 * write becomes a single field. */
void body_template_split(struct body_template_body *to, enum record_kind kind,
    struct text body, bool loosely);
void body_template_take_whole(struct body_template_body *to, struct text body);

#endif
