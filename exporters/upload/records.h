/*
 * upload_records - records on their way from a source to a target: what sending
 * once and following share.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_RECORDS_H
#define EXPORTERS_UPLOAD_RECORDS_H

#include "exporters/cloud/http/message.h"
#include "exporters/samples/columns.h"
#include "exporters/source/source.h"
#include "exporters/upload/upload.h"
#include "proto/config/instance.h"

struct upload_records {
	struct upload_values *upload; /* what was asked for */
	enum record_kind kind;
	enum target_use use;
	const char *word; /* "samples" */
	char partition[INSTANCE_PATH_BYTES];
	struct text pattern; /* --name; empty: all */

	struct source *source;
	struct column_sets sets;
	const char *to;                    /* "scheme:rest" */
	char place[HTTP_PLACE_BYTES + 16]; /* the same for messages */
	const struct target_type *type;
	struct target *target;

	uint64_t added;    /* since the last flush */
	uint64_t sent;     /* acknowledged */
	uint64_t nameless; /* samples whose set nobody defined */
	int64_t shown_ns;
};

/* Bound to a struct upload_records_values. */
extern const struct opt upload_records_options[];

/* Of which records and until when: kinds are for the caller to add to. */
struct wire_query upload_records_query(const struct upload_records *rows);

/* 1: added, or not wanted; 0: flush first; -1. */
int upload_records_add(
    struct upload_records *rows, const struct record *record, struct err *err);
/* Nothing was added: nothing is sent. */
int upload_records_flush(
    struct upload_records *rows, const char *name, struct err *err);

/* Until INT or TERM (0), or a failure. */
int upload_follow(struct upload_records *rows, struct err *err);

extern const struct upload_command upload_samples, upload_events;

#endif
