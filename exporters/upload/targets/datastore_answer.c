/*
 * datastore_answer - parse Datastore's answer to a commit.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "exporters/upload/targets/datastore.h"
#include "proto/json/json_find.h"

int
datastore_answer_read(struct text answer, uint32_t mutations, struct err *err)
{
	struct text root = json_find_root(answer), results, result;
	uint32_t count = 0;

	if (root.bytes == 0)
		return err_set(err, "the answer is not a JSON object");
	results = json_find(root, "mutationResults");
	while (json_find_item(&results, &result))
		count++;
	if (count != mutations)
		return err_set(err,
		    "the answer has %u results for %u mutations", count,
		    mutations);
	return 0;
}

bool
datastore_error_read(struct text answer, struct err *err)
{
	struct text detail = json_find(json_find_root(answer), "error");
	char *status = json_find_string(json_find(detail, "status"));
	char *message = json_find_string(json_find(detail, "message"));
	char first[64], second[400];
	bool is_error = message != NULL;
	if (is_error)
		err_set(err, "%s: %s",
		    text_quote(first, sizeof(first),
			text_of(status != NULL ? status : "refused")),
		    text_quote(second, sizeof(second), text_of(message)));
	free(status);
	free(message);
	return is_error;
}
