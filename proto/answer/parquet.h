/*
 * parquet - columns of values as a file of Apache Parquet.
 *
 * The format is Parquet's format 2 (parquet.thrift): each batch is a group of
 * rows, a column of it a chunk of one data page (v1), compressed with zstd.
 * Texts are numbers into a dictionary of the chunk, unless most are different.
 * What a group has is written at once; only where its chunks are is kept.
 *
 * The schema of Arrow is in the metadata of the file (ARROW:schema), from which
 * readers know units, durations and dictionaries.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_ANSWER_PARQUET_H
#define PROTO_ANSWER_PARQUET_H

#include <stdint.h>
#include <stdio.h>

#include "proto/answer/frame.h"

struct parquet; /* opaque */

/* Returns a new one, which has begun the file. */
struct parquet *parquet_new(FILE *file);
void parquet_free(struct parquet **parquet);

/* The rows that wait; all columns have the same number.  Of the same columns
 * each time, with the names of this group only. */
void parquet_put_group(struct parquet *parquet,
    const struct frame_column *columns, uint32_t count, uint32_t rows);
/* `about`: the value of the member "poolscope" of the file's metadata. */
void parquet_put_end(struct parquet *parquet,
    const struct frame_column *columns, uint32_t count, struct text about);

#endif
