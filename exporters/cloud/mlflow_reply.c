/*
 * mlflow_reply - parse answers of a tracking server.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/mlflow_reply.h"

#include <stdlib.h>
#include <string.h>

#include "proto/json/json_find.h"

/* A string that fits; false: there is none, and `to` is empty. */
static bool
take_string(char *to, size_t bytes_max, struct text value)
{
	char *string = json_find_string(value);
	bool fits = string != NULL && strlen(string) <= bytes_max;

	strcpy(to, fits ? string : "");
	free(string);
	return fits;
}

/* Ids become part of addresses and requests: accept only valid ones. */
static int
take_id(char to[static MLFLOW_ID_BYTES_MAX + 1], struct text from,
    const char *name, struct err *err)
{
	if (!take_string(to, MLFLOW_ID_BYTES_MAX, json_find(from, name)) ||
	    to[0] == '\0' ||
	    to[strspn(to, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			  "0123456789-_")] != '\0')
		return err_set(err, "the answer has no %s", name);
	return 0;
}

/* 64-bit integers may be strings. */
static int64_t
integer_of(struct text value)
{
	int64_t number = 0;
	uint32_t i = value.bytes > 0 && value.at[0] == '"';

	for (; i < value.bytes && value.at[i] >= '0' && value.at[i] <= '9'; i++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, value.at[i] - '0', &number))
			return 0;
	return number;
}

static bool
is_text(struct text from, const char *name, const char *wanted)
{
	return json_find_is(json_find(from, name), wanted);
}

static bool
is_ours(struct text run)
{
	struct text tags = json_find(json_find(run, "data"), "tags"), tag;

	while (json_find_item(&tags, &tag))
		if (is_text(tag, "key", MLFLOW_OURS))
			return true;
	return false;
}

static int
take_run(struct mlflow_run *run, struct text from, struct err *err)
{
	struct text info = json_find(from, "info");

	memset(run, 0, sizeof(*run));
	if (take_id(run->id, info, "run_id", err) != 0)
		return -1;
	run->start_ms = integer_of(json_find(info, "start_time"));
	run->active = !is_text(info, "lifecycle_stage", "deleted");
	run->running = is_text(info, "status", "RUNNING");
	run->ours = is_ours(from);
	take_string(run->artifacts, MLFLOW_URI_BYTES_MAX,
	    json_find(info, "artifact_uri"));
	return 0;
}

int
mlflow_read_run(struct mlflow_run *run, struct text answer, struct err *err)
{
	return take_run(run, json_find(json_find_root(answer), "run"), err);
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
	struct text root = json_find_root(answer), runs, item;
	struct mlflow_run next;

	*found = false;
	if (root.bytes == 0)
		return err_set(err, "the answer is not a JSON object");
	runs = json_find(root, "runs");
	while (json_find_item(&runs, &item)) {
		if (take_run(&next, item, err) != 0)
			return -1;
		if (!*found || is_before(&next, run)) {
			*run = next;
			*found = true;
		}
	}
	return 0;
}

int
mlflow_read_experiment(char id[static MLFLOW_ID_BYTES_MAX + 1], bool *active,
    struct text answer, struct err *err)
{
	struct text root = json_find_root(answer);
	struct text from = json_find(root, "experiment");

	if (from.bytes == 0)
		from = root;
	*active = !is_text(from, "lifecycle_stage", "deleted");
	return take_id(id, from, "experiment_id", err);
}

bool
mlflow_read_error(struct text answer, struct err *err)
{
	struct text root = json_find_root(answer);
	char *code = json_find_string(json_find(root, "error_code"));
	char *message = json_find_string(json_find(root, "message"));
	char first[64], second[400];
	bool is_error = code != NULL;

	if (is_error)
		err_set(err, "%s%s%s",
		    text_quote(first, sizeof(first), text_of(code)),
		    message != NULL ? ": " : "",
		    text_quote(second, sizeof(second), text_of(message)));
	free(code);
	free(message);
	return is_error;
}

bool
mlflow_is_object(struct text answer)
{
	return json_find_root(answer).bytes > 0;
}

bool
mlflow_error_is(struct text answer, const char *code)
{
	return is_text(json_find_root(answer), "error_code", code);
}
