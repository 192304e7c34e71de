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
enum seal_step {
	SEAL_BYTES = 0,  /* a text follows: these bytes */
	SEAL_RAW = 1,    /* text: as it is */
	SEAL_VALUE = 2,  /* value: MessagePack in its shortest form */
	SEAL_VARINT = 3, /* int: a varint */
	SEAL_ZIGZAG = 4, /* int: a varint of its zigzag */
};

/* Columns of a chunk before those of the shapes. */
enum seal_column {
	SEAL_BAND_NODE, /* one for each band */
	SEAL_BAND_TRACK,
	SEAL_BAND_ROWS,
	SEAL_TIME,         /* one for each row */
	SEAL_BATCH_STREAM, /* one for each batch */
	SEAL_BATCH_SEQ,
	SEAL_BATCH_RECEIVE,
	SEAL_BATCH, /* one for each row, in the order of SEAL_ORDER */
	SEAL_INDEX,
	SEAL_ORDER,  /* one: 0 that of the rows, 1 that of their times */
	SEAL_SHAPE,  /* one for each row */
	SEAL_SHAPES, /* one for each shape: text */
	SEAL_COLUMNS
};

/* What a body was taken apart into. */
struct seal_body {
	struct buffer shape;
	struct buffer literal; /* bytes not yet in the shape */
	struct text *place;    /* of all bodies, one after another */
	uint32_t places, room;
};
void seal_body_clear(struct seal_body *body);

/* Take a body apart: `to->shape` is its shape, the places are appended.
 * `loosely`: names are places too.  What is not as we write it is one place
 * with all of it. */
void seal_take_apart(struct seal_body *to, enum record_kind kind,
    struct text body, bool loosely);
void seal_take_whole(struct seal_body *to, struct text body);

#endif
