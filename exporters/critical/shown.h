/*
 * critical_shown - the critical path of the start that a picture shows.
 *
 * That is the newest start that had begun before the picture ends.  A picture
 * of a pool whose model has no order of phases has none, nor has one of a start
 * of which no node is ready.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CRITICAL_SHOWN_H
#define EXPORTERS_CRITICAL_SHOWN_H

#include "exporters/critical/path.h"
#include "exporters/critical/start.h"

struct critical_shown {
	struct critical_start of;
	struct critical_path path; /* `count` 0: there is none */
	int64_t start_ns;
};

/* `model`: that of the picture; the start began before `until_ns`; `gap_ns` as
 * in starts_query.  -1: the source failed.  Clear it in any case. */
int critical_shown_read(struct critical_shown *shown, struct source *source,
    struct text partition, struct text model, int64_t gap_ns, int64_t until_ns,
    struct err *err);
void critical_shown_clear(struct critical_shown *shown);

/* The kind of a piece and where it is; `phase` and `key` are empty where there
 * is none. */
const char *critical_shown_piece(const struct critical_shown *shown,
    const struct critical_piece *piece, struct text *node, struct text *phase,
    struct text *key);

/* "; path to ready: node cn21, 438.0 s"; empty: there is none. */
enum { CRITICAL_SHOWN_BYTES = NAME_BYTES_MAX * 4 + 80 };
const char *critical_shown_words(
    char to[static CRITICAL_SHOWN_BYTES], const struct critical_shown *shown);

#endif
