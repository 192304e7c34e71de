/*
 * destinations - the targets of results, and which of them have a file.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/destinations.h"

#include <stdio.h>
#include <string.h>

#include "exporters/results/publish.h"
#include "exporters/results/read.h"

int
destinations_find(struct destinations *destinations, const char *const *to,
    uint32_t count, struct err *err)
{
	*destinations = (struct destinations){ .count = count };
	for (uint32_t i = 0; i < count; i++) {
		struct destination *destination = &destinations->at[i];
		const char *rest;

		destination->name = to[i];
		destination->type =
		    target_find(to[i], TARGET_RESULTS, &rest, err);
		if (destination->type == NULL)
			return -1;
		if (destination->type != &target_store) {
			destinations->others = true;
			continue;
		}
		destinations->store = true;
		destination->type = NULL;
	}
	return 0;
}

int
destinations_open(struct destinations *destinations, struct text partition,
    const struct source_options *asked, const struct http_options *how,
    struct err *err)
{
	destinations->asked = *asked;
	destinations->partition = partition;
	for (uint32_t i = 0; i < destinations->count; i++) {
		struct destination *destination = &destinations->at[i];
		const char *rest;

		if (destination->type == NULL)
			continue;
		target_find(destination->name, TARGET_RESULTS, &rest, err);
		if (destination->type->open(
			&destination->target, rest, how, err) != 0)
			return -1;
	}
	return 0;
}

void
destinations_close(struct destinations *destinations)
{
	for (uint32_t i = 0; i < destinations->count; i++) {
		struct destination *destination = &destinations->at[i];

		if (destination->type != NULL && destination->target != NULL)
			destination->type->close(&destination->target);
	}
	source_close(&destinations->source);
}

static const char *
get_identity(const struct destination *destination)
{
	return destination->type == NULL
		   ? destination->name
		   : destination->type->identity(destination->target);
}

/* Query the store which targets have the file. */
static int
ask(struct destinations *destinations, char ids[][RESULT_UPLOAD_ID_BYTES],
    bool *has, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	char pattern[RESULT_UPLOAD_ID_BYTES + 32];
	struct record record;
	int rc;

	if (destinations->source == NULL &&
	    source_open(&destinations->source, &destinations->asked, err) != 0)
		return -1;
	snprintf(pattern, sizeof(pattern), RESULT_KIND_UPLOAD ":%.*s/*",
	    2 * RESULT_DIGEST_BYTES, ids[0]);
	query.name = text_of(pattern);
	if (source_select(destinations->source, SOURCE_RECORDS,
		destinations->partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(destinations->source, &record, err)) > 0)
		for (uint32_t i = 0; i < destinations->count; i++)
			has[i] =
			    has[i] || text_equal(record.name, text_of(ids[i]));
	return rc;
}

int
destinations_put(struct destinations *destinations,
    const struct result_file *result, struct publisher *publisher, bool *put,
    const char **target, struct err *err)
{
	char ids[DESTINATIONS_MAX][RESULT_UPLOAD_ID_BYTES];
	bool has[DESTINATIONS_MAX] = { false };

	*target = NULL;
	for (uint32_t i = 0; i < destinations->count; i++)
		result_upload_id(
		    ids[i], result->digest, get_identity(&destinations->at[i]));
	if (publisher != NULL && ask(destinations, ids, has, err) != 0) {
		source_close(
		    &destinations->source); /* a new connection may succeed */
		return -1;
	}
	for (uint32_t i = 0; i < destinations->count; i++) {
		struct destination *destination = &destinations->at[i];

		if (destination->type == NULL || has[i])
			continue;
		if (destination->type->put_result(
			destination->target, result, err) != 0) {
			*target = destination->name;
			return -1;
		}
		if (publisher == NULL)
			continue;
		if (result_put_upload(publisher, ids[i], err) != 0)
			return -1;
		*put = true;
	}
	return 0;
}
