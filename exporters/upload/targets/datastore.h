/*
 * datastore - results as entities of Google Cloud Datastore: the bodies of
 * commits (REST, version 1) and their answers.
 *
 * A file is entities of kind Entry and one of kind Test.  Their keys are made
 * of what the file is (DIGEST/NUMBER, DIGEST), and each is an upsert, so that
 * the same file once more changes nothing.  The Test comes last: one that is
 * there has all of its entries.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_TARGETS_DATASTORE_H
#define EXPORTERS_UPLOAD_TARGETS_DATASTORE_H

#include "exporters/cloud/http/json_batch.h"
#include "exporters/results/result_file.h"
#include "proto/format/json_relayout.h"

/* Of the service. */
enum {
	DATASTORE_MUTATIONS_MAX = 500,
	DATASTORE_BODY_BYTES_MAX = 10 << 20,
	DATASTORE_ENTITY_BYTES_MAX = (1 << 20) - 4,
	DATASTORE_INDEXED_BYTES_MAX = 1500,
	DATASTORE_ID_BYTES_MAX = 100, /* of a project, of a namespace */
};

struct datastore_place {
	char project[DATASTORE_ID_BYTES_MAX + 1];
	char namespace[DATASTORE_ID_BYTES_MAX + 1]; /* "": the default one */
};

/* From "PROJECT" or "PROJECT/NAMESPACE". */
int datastore_place_read(
    struct datastore_place *place, const char *text, struct err *err);

/* What of a result becomes an entity. */
struct datastore_item {
	const struct result_file *result;
	const struct result_entry *entry; /* NULL: the Test of the file */
	struct text info;
};

/* Its `info` is the file's text, or the entry as json_relayout lays it out: a
 * view, valid until the next call. */
struct datastore_item datastore_item(struct json_relayout *again,
    const struct result_file *result, const struct result_entry *entry);

/* May the service have it?  -1: which limit it is over. */
int datastore_check(const struct datastore_place *place,
    const struct datastore_item *item, struct err *err);

/* A commit in the making, empty; json_batch_clear it. */
struct json_batch datastore_commit(void);
/* Add what may be had.  False: there is no room, send it first. */
bool datastore_add(struct json_batch *commit,
    const struct datastore_place *place, const struct datastore_item *item);

/* The answer to a commit of so many mutations.  -1: it is none. */
int datastore_answer_read(
    struct text answer, uint32_t mutations, struct err *err);
/* What an answer that is an error says: "STATUS: message".  False: it is none
 * of the service's own. */
bool datastore_error_read(struct text answer, struct err *err);

#endif
