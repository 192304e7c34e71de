/*
 * datastore - results as entities of Google Cloud Datastore, or its emulator.
 *
 * A file becomes entities of kind Entry and one of kind Test.  Their keys
 * (DIGEST/NUMBER, DIGEST) are made of the content of the file and each is an
 * upsert, so that uploading the same file again changes nothing.  The Test is
 * sent last: a Test that exists has all of its entries.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_TARGETS_DATASTORE_H
#define EXPORTERS_UPLOAD_TARGETS_DATASTORE_H

#include "exporters/cloud/deliver.h"
#include "exporters/results/result_file.h"
#include "proto/json/json_relayout.h"

/* Limits of the service. */
enum {
	DATASTORE_MUTATIONS_MAX = 500,
	DATASTORE_BODY_BYTES_MAX = 10 << 20,
	DATASTORE_ENTITY_BYTES_MAX = (1 << 20) - 4,
	DATASTORE_INDEXED_BYTES_MAX = 1500,
	DATASTORE_ID_BYTES_MAX =
	    100, /* bytes of the name of a project or a namespace */
};

struct datastore_location {
	char project[DATASTORE_ID_BYTES_MAX + 1];
	char namespace[DATASTORE_ID_BYTES_MAX +
		       1]; /* "": the default namespace */
};

/* Parse "PROJECT" or "PROJECT/NAMESPACE". */
int datastore_location_read(
    struct datastore_location *location, const char *text, struct err *err);

/* The part of a result that becomes an entity. */
struct datastore_item {
	const struct result_file *result;
	const struct result_entry *entry; /* NULL: the Test of the file */
	struct text info;
};

/* The property `info`: the file's text, or the entry in the layout of
 * json_relayout; a view, valid until the next call. */
struct datastore_item datastore_item(struct json_relayout *again,
    const struct result_file *result, const struct result_entry *entry);

/* Check the limits of the service.  Returns -1 if one is exceeded. */
int datastore_check(const struct datastore_location *location,
    const struct datastore_item *item, struct err *err);

/* An empty commit; free it with json_batch_clear. */
struct json_batch datastore_commit(void);
/* Add an entity that passed the check.  False: there is no room, send the
 * commit first. */
bool datastore_add(struct json_batch *commit,
    const struct datastore_location *location,
    const struct datastore_item *item);

/* Check the answer to a commit of `mutations` mutations; -1 if it is
 * malformed. */
int datastore_answer_read(
    struct text answer, uint32_t mutations, struct err *err);
/* Get "STATUS: message" from an error answer; false if it is not one of the
 * service. */
bool datastore_error_read(struct text answer, struct err *err);

#endif
