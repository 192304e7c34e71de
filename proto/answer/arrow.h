/*
 * arrow - columns of values as a stream of Apache Arrow.
 *
 * The format is the Arrow IPC streaming format, version 5 of its metadata: a
 * schema, then batches of rows.  A column of FRAME_NAMES has numbers into a
 * dictionary of its names; one that grew is sent again whole before the next
 * batch, never as a delta, which several readers do not know.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_ANSWER_ARROW_H
#define PROTO_ANSWER_ARROW_H

#include <stdint.h>
#include <stdio.h>

#include "proto/answer/frame.h"
#include "proto/base/text.h"

/* `about`: the value of the member "poolscope" of the schema's metadata. */
void arrow_put_schema(FILE *file, const struct frame_column *columns,
    uint32_t count, struct text about);
/* The rows that wait; all columns have the same number. */
void arrow_put_batch(
    FILE *file, struct frame_column *columns, uint32_t count, uint32_t rows);
/* A stream without it ends too early. */
void arrow_put_end(FILE *file);

#endif
