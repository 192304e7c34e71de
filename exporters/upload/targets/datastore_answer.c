/*
 * datastore_answer - parse Datastore's answer to a commit.
 * SPDX-License-Identifier: MIT
 */
#include <jansson.h>

#include "exporters/upload/targets/datastore.h"

int
datastore_answer_read(struct text answer, uint32_t mutations, struct err *err)
{
	json_error_t error;
	json_t *root = json_loadb(answer.at, answer.bytes, 0, &error);
	const json_t *results = json_object_get(root, "mutationResults");
	size_t count = json_array_size(results);
	int rc = 0;

	if (!json_is_object(root))
		rc = err_set(err, "the answer is not a JSON object");
	else if (count != mutations)
		rc = err_set(err, "the answer has %zu results for %u mutations",
		    count, mutations);
	json_decref(root);
	return rc;
}

bool
datastore_error_read(struct text answer, struct err *err)
{
	json_error_t error;
	json_t *root = json_loadb(answer.at, answer.bytes, 0, &error);
	const json_t *detail = json_object_get(root, "error");
	const char *status =
	    json_string_value(json_object_get(detail, "status"));
	const char *message =
	    json_string_value(json_object_get(detail, "message"));
	char first[64], second[400];

	if (message != NULL)
		err_set(err, "%s: %s",
		    text_quote(first, sizeof(first),
			text_of(status != NULL ? status : "refused")),
		    text_quote(second, sizeof(second), text_of(message)));
	json_decref(root);
	return message != NULL;
}
