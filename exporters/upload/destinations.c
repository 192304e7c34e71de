/*
 * destinations - the targets of results, and what is remembered of them.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/destinations.h"

#include <stdio.h>
#include <string.h>

#include "exporters/results/publish.h"
#include "exporters/results/result_id.h"

int
outlets_find(struct outlets *outlets, const char *const *to, uint32_t count,
    struct err *err)
{
	*outlets = (struct outlets){ .count = count };
	for (uint32_t i = 0; i < count; i++) {
		struct outlet *outlet = &outlets->at[i];
		const char *rest;

		outlet->name = to[i];
		outlet->type = target_find(to[i], TARGET_RESULTS, &rest, err);
		if (outlet->type == NULL)
			return -1;
		if (outlet->type != &target_store) {
			outlets->others = true;
			continue;
		}
		outlets->store = true;
		outlet->type = NULL;
	}
	return 0;
}

int
outlets_open(struct outlets *outlets, struct text partition, struct err *err)
{
	outlets->partition = partition;
	for (uint32_t i = 0; i < outlets->count; i++) {
		struct outlet *outlet = &outlets->at[i];
		const char *rest;

		if (outlet->type == NULL)
			continue;
		target_find(outlet->name, TARGET_RESULTS, &rest, err);
		if (outlet->type->open(&outlet->target, rest, err) != 0)
			return -1;
	}
	return 0;
}

void
outlets_close(struct outlets *outlets)
{
	for (uint32_t i = 0; i < outlets->count; i++) {
		struct outlet *outlet = &outlets->at[i];

		if (outlet->type != NULL && outlet->target != NULL)
			outlet->type->close(&outlet->target);
	}
	source_close(&outlets->source);
}

static const char *
get_identity(const struct outlet *outlet)
{
	return outlet->type == NULL ? outlet->name
				    : outlet->type->identity(outlet->target);
}

/* Ask the store which of them have the file. */
static int
ask(struct outlets *outlets, char ids[][RESULT_UPLOAD_ID_BYTES], bool *has,
    struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	char pattern[RESULT_UPLOAD_ID_BYTES + 32];
	struct record record;
	int rc;

	if (outlets->source == NULL && source_open(&outlets->source, err) != 0)
		return -1;
	snprintf(pattern, sizeof(pattern), RESULT_KIND_UPLOAD ":%.*s/*",
	    2 * RESULT_DIGEST_BYTES, ids[0]);
	query.name = text_of(pattern);
	if (source_select(outlets->source, SOURCE_RECORDS, outlets->partition,
		&query, err) != 0)
		return -1;
	while ((rc = source_next(outlets->source, &record, err)) > 0)
		for (uint32_t i = 0; i < outlets->count; i++)
			has[i] =
			    has[i] || text_equal(record.name, text_of(ids[i]));
	return rc;
}

int
outlets_put(struct outlets *outlets, const struct result_file *result,
    struct publish *publish, bool *put, const char **target, struct err *err)
{
	static char ids[OUTLETS_MAX][RESULT_UPLOAD_ID_BYTES];
	bool has[OUTLETS_MAX] = { false };

	*target = NULL;
	for (uint32_t i = 0; i < outlets->count; i++)
		result_upload_id(
		    ids[i], result->digest, get_identity(&outlets->at[i]));
	if (publish != NULL && ask(outlets, ids, has, err) != 0) {
		source_close(&outlets->source); /* a new one may do */
		return -1;
	}
	for (uint32_t i = 0; i < outlets->count; i++) {
		struct outlet *outlet = &outlets->at[i];

		if (outlet->type == NULL || has[i])
			continue;
		if (outlet->type->put_result(outlet->target, result, err) !=
		    0) {
			*target = outlet->name;
			return -1;
		}
		if (publish == NULL)
			continue;
		if (result_put_upload(publish, ids[i], err) != 0)
			return -1;
		*put = true;
	}
	return 0;
}
