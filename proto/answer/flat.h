/*
 * flat - write a FlatBuffer, from its end to its beginning.
 *
 * What is referred to is written before what refers to it, and so stands behind
 * it, as the format wants.  A place is its distance from the end.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_ANSWER_FLAT_H
#define PROTO_ANSWER_FLAT_H

#include <stdint.h>

#include "proto/base/text.h"

struct flat {
	unsigned char *memory; /* the bytes used are the last ones */
	uint32_t room, used;
};

enum { FLAT_FIELDS_MAX = 7 };

struct flat_table {
	uint32_t end, fields[FLAT_FIELDS_MAX]; /* 0: absent */
};

void flat_clear(struct flat *f);

/* Fill up, so that `size` divides the place after `more` further bytes. */
void flat_align(struct flat *f, uint32_t size, uint32_t more);
/* A number of `bytes` bytes, at a place that they divide. */
void flat_number(struct flat *f, uint64_t number, uint32_t bytes);
/* Returns the place of a new string. */
uint32_t flat_text(struct flat *f, struct text text);
/* Returns the place of a new vector that refers to these places. */
uint32_t flat_vector(struct flat *f, const uint32_t *places, uint32_t count);

/* Fields are numbered as in the schema. */
void flat_begin(struct flat *f, struct flat_table *table);
void flat_add(struct flat *f, struct flat_table *table, uint32_t field,
    uint64_t number, uint32_t bytes);
void flat_refer(
    struct flat *f, struct flat_table *table, uint32_t field, uint32_t place);
/* Returns the place of the table. */
uint32_t flat_end(struct flat *f, const struct flat_table *table);

/* The whole, which begins with a reference to its root: a view, a multiple of 8
 * bytes long. */
struct text flat_finish(struct flat *f, uint32_t root);

#endif
