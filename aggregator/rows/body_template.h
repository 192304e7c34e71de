/*
 * body_template - bodies of records as shapes: what they have in common, and
 * the places where they differ.
 *
 * A shape is a list of steps that write a body: bytes that are always there,
 * and places, each with a way to write what a column has for it.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROWS_BODY_TEMPLATE_H
#define AGGREGATOR_ROWS_BODY_TEMPLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/varint.h"
#include "proto/record/record.h"

/* The numbers are at rest: never change one. */
enum body_template_step {
	BODY_TEMPLATE_BYTES = 0,  /* a text follows: these bytes */
	BODY_TEMPLATE_RAW = 1,    /* text: as it is */
	BODY_TEMPLATE_VALUE = 2,  /* value: MessagePack in its shortest form */
	BODY_TEMPLATE_VARINT = 3, /* int: a varint */
	BODY_TEMPLATE_ZIGZAG = 4, /* int: a varint of its zigzag */
};

/* Columns of a chunk before those of the shapes. */
enum body_template_column {
	BODY_TEMPLATE_SERIES_BLOCK_NODE, /* one for each series_block */
	BODY_TEMPLATE_SERIES_BLOCK_TRACK,
	BODY_TEMPLATE_SERIES_BLOCK_ROWS,
	BODY_TEMPLATE_TIME,         /* one for each row */
	BODY_TEMPLATE_BATCH_STREAM, /* one for each batch */
	BODY_TEMPLATE_BATCH_SEQ,
	BODY_TEMPLATE_BATCH_RECEIVE,
	BODY_TEMPLATE_BATCH, /* one for each row, in the order of
				BODY_TEMPLATE_ORDER */
	BODY_TEMPLATE_INDEX,
	BODY_TEMPLATE_ORDER,  /* one: 0 that of the rows, 1 that of their times
			       */
	BODY_TEMPLATE_SHAPE,  /* one for each row */
	BODY_TEMPLATE_SHAPES, /* one for each shape: text */
	BODY_TEMPLATE_COLUMNS
};

/* What a body was taken apart into. */
struct body_template_body {
	struct buffer shape;
	struct buffer literal; /* bytes not yet in the shape */
	struct text *place;    /* of all bodies, one after another */
	uint32_t places, room;
};
void body_template_body_clear(struct body_template_body *body);

/* Take a body apart: `to->shape` is its shape, the places are appended.
 * `loosely`: names are places too.  What is not as we write it is one place
 * with all of it. */
void body_template_take_apart(struct body_template_body *to,
    enum record_kind kind, struct text body, bool loosely);
void body_template_take_whole(struct body_template_body *to, struct text body);

#endif
