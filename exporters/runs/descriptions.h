/*
 * descriptions - what entities say of test runs: their queue and configuration,
 * who requested them, and how they failed.
 *
 * The requestor and the error are the properties that the model names; queue
 * and configuration are those of these names.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_DESCRIPTIONS_H
#define EXPORTERS_RUNS_DESCRIPTIONS_H

#include "exporters/source/source.h"
#include "proto/hash/string_table.h"

enum runs_property {
	RUNS_QUEUE,
	RUNS_CONFIGURATION,
	RUNS_REQUESTOR,
	RUNS_ERROR,
	RUNS_PROPERTIES
};

enum {
	RUNS_PROPERTY_BYTES_MAX = 1000, /* of a longer text the begin, "..." */
	/* Up to this number each is looked up; of more runs, all are read. */
	RUNS_FEW = 50,
};

/* Of one run; at NULL: unknown. */
struct runs_description {
	struct text of[RUNS_PROPERTIES];
};

struct runs_descriptions {
	struct source *source;
	struct text partition; /* owned by the caller */
	/* Of the entities, and of their attributes; empty: there are none. */
	struct text kind, key[RUNS_PROPERTIES];
	bool has_all;
	struct string_table ids, texts;
	/* By the number of the id: numbers of texts + 1; 0: unknown. */
	uint32_t (*numbers)[RUNS_PROPERTIES];
	uint32_t room;
	uint64_t bytes;
};

/* The caller sets the kind, and the attributes that a model names. */
void runs_descriptions_init(struct runs_descriptions *descriptions,
    struct source *source, struct text partition);
void runs_descriptions_clear(struct runs_descriptions *descriptions);

/* Read that of one run, or with an empty id those of all. */
int runs_descriptions_read(
    struct runs_descriptions *descriptions, struct text id, struct err *err);
/* The texts live as long as the descriptions. */
struct runs_description runs_descriptions_find(
    const struct runs_descriptions *descriptions, struct text id);

#endif
