/*
 * mlflow_reply - parse answers of a tracking server.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/mlflow/reply.h"

#include <string.h>

#include <jansson.h>

static json_t *
load(struct text answer)
{
	json_error_t error;

	return json_loadb(answer.at, answer.bytes, 0, &error);
}

/* Ids become part of addresses and requests: accept only valid ones. */
static int
take_id(char to[static MLFLOW_ID_BYTES_MAX + 1], const json_t *from,
    const char *name, struct err *err)
{
	const char *id = json_string_value(json_object_get(from, name));

	if (id == NULL || id[0] == '\0' || strlen(id) > MLFLOW_ID_BYTES_MAX ||
	    strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		       "0123456789-_") != strlen(id))
		return err_set(err, "the answer has no %s", name);
	memcpy(to, id, strlen(id) + 1);
	return 0;
}

/* 64-bit integers may be strings. */
static int64_t
integer_of(const json_t *value)
{
	const char *text = json_string_value(value);
	int64_t number = 0;

	if (text == NULL)
		return json_integer_value(value);
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, *text - '0', &number))
			return 0;
	return number;
}

static bool
is_text(const json_t *from, const char *name, const char *wanted)
{
	const char *text = json_string_value(json_object_get(from, name));

	return text != NULL && strcmp(text, wanted) == 0;
}

static bool
is_ours(const json_t *run)
{
	const json_t *tags =
	    json_object_get(json_object_get(run, "data"), "tags");

	for (size_t i = 0; i < json_array_size(tags); i++)
		if (is_text(json_array_get(tags, i), "key", MLFLOW_OURS))
			return true;
	return false;
}

static int
take_run(struct mlflow_run *run, const json_t *from, struct err *err)
{
	const json_t *info = json_object_get(from, "info");
	const char *uri =
	    json_string_value(json_object_get(info, "artifact_uri"));

	memset(run, 0, sizeof(*run));
	if (take_id(run->id, info, "run_id", err) != 0)
		return -1;
	run->start_ms = integer_of(json_object_get(info, "start_time"));
	run->active = !is_text(info, "lifecycle_stage", "deleted");
	run->running = is_text(info, "status", "RUNNING");
	run->ours = is_ours(from);
	if (uri != NULL && strlen(uri) <= MLFLOW_URI_BYTES_MAX)
		memcpy(run->artifacts, uri, strlen(uri) + 1);
	return 0;
}

int
mlflow_read_run(struct mlflow_run *run, struct text answer, struct err *err)
{
	json_t *root = load(answer);
	int rc = take_run(run, json_object_get(root, "run"), err);

	json_decref(root);
	return rc;
}

static bool
is_before(const struct mlflow_run *a, const struct mlflow_run *b)
{
	return a->start_ms != b->start_ms ? a->start_ms < b->start_ms
					  : strcmp(a->id, b->id) < 0;
}

int
mlflow_read_runs(
    struct mlflow_run *run, bool *found, struct text answer, struct err *err)
{
	json_t *root = load(answer);
	const json_t *runs = json_object_get(root, "runs");
	struct mlflow_run next;
	int rc = 0;

	*found = false;
	if (!json_is_object(root))
		rc = err_set(err, "the answer is not a JSON object");
	for (size_t i = 0; rc == 0 && i < json_array_size(runs); i++) {
		rc = take_run(&next, json_array_get(runs, i), err);
		if (rc == 0 && (!*found || is_before(&next, run))) {
			*run = next;
			*found = true;
		}
	}
	json_decref(root);
	return rc;
}

int
mlflow_read_experiment(char id[static MLFLOW_ID_BYTES_MAX + 1], bool *active,
    struct text answer, struct err *err)
{
	json_t *root = load(answer);
	const json_t *from = json_object_get(root, "experiment");
	int rc;

	if (from == NULL)
		from = root;
	rc = take_id(id, from, "experiment_id", err);
	*active = !is_text(from, "lifecycle_stage", "deleted");
	json_decref(root);
	return rc;
}

bool
mlflow_read_error(struct text answer, struct err *err)
{
	json_t *root = load(answer);
	const char *code =
	    json_string_value(json_object_get(root, "error_code"));
	const char *message =
	    json_string_value(json_object_get(root, "message"));
	char first[64], second[400];

	if (code != NULL)
		err_set(err, "%s%s%s",
		    text_quote(first, sizeof(first), text_of(code)),
		    message != NULL ? ": " : "",
		    text_quote(second, sizeof(second), text_of(message)));
	json_decref(root);
	return code != NULL;
}

bool
mlflow_is_object(struct text answer)
{
	json_t *root = load(answer);
	bool is = json_is_object(root);

	json_decref(root);
	return is;
}

bool
mlflow_error_is(struct text answer, const char *code)
{
	json_t *root = load(answer);
	bool is = is_text(root, "error_code", code);

	json_decref(root);
	return is;
}
