/*
 * mlflow_answer - any answer of a tracking server is one of ours, or a
 * sentence; what is found in it by name is what another reader of objects has.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/mlflow_reply.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/json/json_fields.h"
#include "proto/json/json_find.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
assert_id(const char *id)
{
	assert(id[0] != '\0' && strlen(id) <= MLFLOW_ID_BYTES_MAX);
	for (; *id != '\0'; id++)
		assert(strchr("/%?#\"\\ \r\n", *id) == NULL);
}

/* Members and items, one level down. */
static void
check_found(struct text answer)
{
	struct text root = json_find_root(answer), item;
	struct json_fields object = { .values = NULL };
	bool is_object = json_fields_read(&object, answer, NULL) == 0;

	assert(is_object == (root.bytes > 0));
	for (uint32_t i = 0; i < object.count; i++) {
		struct text value = object.values[i], list = value;
		char name[33];
		char *string = json_find_string(value);

		assert((string != NULL) == (value.at[0] == '"'));
		assert(string == NULL || json_find_is(value, string) ||
		       value.bytes > 192);
		free(string);
		while (json_find_item(&list, &item))
			assert(item.at > value.at &&
			       item.at + item.bytes < value.at + value.bytes);
		if (object.keys.at[i].bytes >= sizeof(name))
			continue;
		snprintf(name, sizeof(name), "%.*s",
		    (int)object.keys.at[i].bytes, object.keys.at[i].at);
		assert(json_find(root, name).at == value.at);
		assert(json_find(root, name).bytes == value.bytes);
	}
	json_fields_clear(&object);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text answer = { (const char *)data, (uint32_t)size };
	char id[MLFLOW_ID_BYTES_MAX + 1];
	struct mlflow_run run;
	struct err err = { 0 };
	bool found, active;

	check_found(answer);
	if (mlflow_read_run(&run, answer, &err) == 0)
		assert_id(run.id);
	else
		assert(err.text[0] != '\0');
	if (mlflow_read_runs(&run, &found, answer, &err) == 0 && found)
		assert_id(run.id);
	if (mlflow_read_experiment(id, &active, answer, &err) == 0)
		assert_id(id);
	err.text[0] = '\0';
	mlflow_read_error(answer, &err);
	for (const char *c = err.text; *c != '\0'; c++)
		assert((unsigned char)*c >= ' ' && *c != 0x7F);
	return 0;
}
