/*
 * mlflow_run - find or create a run, and upload artifacts.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporters/cloud/mlflow/mlflow_private.h"
#include "proto/base/memory.h"

enum { NAME_BYTES = 256, STATUS_NOT_FOUND = 404, STATUS_BAD = 400 };

/* EXPERIMENT/NAME */
struct names {
	char experiment[3 * NAME_BYTES]; /* names of MLflow experiments may
					    contain slashes */
	const char *run;
};

/* ---- experiments ---- */

static int
take_experiment(char id[static MLFLOW_ID_BYTES_MAX + 1],
    const struct http_answer *answer, const struct names *names,
    struct err *err)
{
	char shown[200];
	bool active;

	if (mlflow_read_experiment(id, &active, answer->body, err) != 0)
		return err_prefix(err, "MLflow");
	if (active)
		return 0;
	return err_set(err, "the MLflow experiment %s is deleted",
	    text_quote(shown, sizeof(shown), text_of(names->experiment)));
}

/* Returns 1 if it exists, 0 if not. */
static int
find_experiment(struct mlflow *m, char id[static MLFLOW_ID_BYTES_MAX + 1],
    const struct names *names, struct err *err)
{
	char path[MLFLOW_PATH_BYTES] =
	    MLFLOW_API "experiments/get-by-name?experiment_name=";
	size_t used = strlen(path);
	struct http_answer answer;

	http_encode(
	    path + used, sizeof(path) - used, text_of(names->experiment), "");
	if (mlflow_call(m, "GET", path, NULL, (struct text){ "", 0 }, &answer,
		err) != 0)
		return -1;
	if (answer.status == STATUS_NOT_FOUND &&
	    mlflow_error_is(answer.body, "RESOURCE_DOES_NOT_EXIST"))
		return 0;
	if (mlflow_judge(m, &answer, err) != 0 ||
	    take_experiment(id, &answer, names, err) != 0)
		return -1;
	return 1;
}

/* Another client may have created it first: then use that one. */
static int
make_experiment(struct mlflow *m, char id[static MLFLOW_ID_BYTES_MAX + 1],
    const struct names *names, struct err *err)
{
	struct http_answer answer;
	struct json_memory json;
	int rc;

	mlflow_json_begin(&json);
	mlflow_json_put(&json, "name", names->experiment);
	rc = mlflow_call(m, "POST", MLFLOW_API "experiments/create", NULL,
	    mlflow_json_end(&json), &answer, err);
	free(json.text);
	if (rc != 0)
		return -1;
	if (answer.status == STATUS_BAD &&
	    mlflow_error_is(answer.body, "RESOURCE_ALREADY_EXISTS"))
		return find_experiment(m, id, names, err) == 1 ? 0 : -1;
	if (mlflow_judge(m, &answer, err) != 0)
		return -1;
	return take_experiment(id, &answer, names, err);
}

/* ---- runs ---- */

static void
put_filter(struct json_memory *json, const char *name)
{
	char filter[NAME_BYTES + 40], quote = strchr(name, '"') ? '\'' : '"';

	snprintf(filter, sizeof(filter), "attributes.run_name = %c%s%c", quote,
	    name, quote);
	mlflow_json_put(json, "filter", filter);
}

/* Returns 1 if found, 0 if not. */
static int
find_run(struct mlflow *m, const char *experiment, const struct names *names,
    struct err *err)
{
	struct http_answer answer;
	struct json_memory json;
	bool found;
	int rc;

	mlflow_json_begin(&json);
	json_add_array(&json.to, "experiment_ids");
	json_string(&json.to, experiment);
	json_end_array(&json.to);
	put_filter(&json, names->run);
	mlflow_json_put(&json, "run_view_type", "ACTIVE_ONLY");
	json_add_array(&json.to, "order_by");
	json_string(&json.to, "attributes.start_time ASC");
	json_end_array(&json.to);
	rc = mlflow_post(
	    m, MLFLOW_API "runs/search", mlflow_json_end(&json), &answer, err);
	free(json.text);
	if (rc == 0 && mlflow_read_runs(&m->run, &found, answer.body, err) != 0)
		rc = err_prefix(err, "MLflow");
	return rc != 0 ? -1 : found;
}

static int
make_run(struct mlflow *m, const char *experiment, const struct names *names,
    struct text partition, int64_t start_ms, struct err *err)
{
	struct http_answer answer;
	struct json_memory json;
	int rc;

	mlflow_json_begin(&json);
	mlflow_json_put(&json, "experiment_id", experiment);
	mlflow_json_put(&json, "run_name", names->run);
	json_add_int(&json.to, "start_time", start_ms);
	json_add_array(&json.to, "tags");
	json_begin_object(&json.to);
	mlflow_json_put(&json, "key", MLFLOW_OURS);
	json_add_text(&json.to, "value", partition);
	json_end_object(&json.to);
	json_end_array(&json.to);
	rc = mlflow_post(
	    m, MLFLOW_API "runs/create", mlflow_json_end(&json), &answer, err);
	free(json.text);
	return rc;
}

static int
find_or_make(struct mlflow *m, const struct names *names, struct text partition,
    int64_t start_ms, struct err *err)
{
	char id[MLFLOW_ID_BYTES_MAX + 1];
	int found = find_experiment(m, id, names, err);

	if (found == 0)
		found = make_experiment(m, id, names, err) == 0 ? 1 : -1;
	if (found > 0)
		found = find_run(m, id, names, err);
	if (found != 0)
		return found < 0 ? -1 : 0;
	/* If the answer to an earlier creation was lost, there are two such
	 * runs; every client uses the first. */
	if (make_run(m, id, names, partition, start_ms, err) != 0)
		return -1;
	found = find_run(m, id, names, err);
	if (found == 0)
		err_set(
		    err, "MLflow does not find the run that it just created");
	return found > 0 ? 0 : -1;
}

static int
get_run(struct mlflow *m, const char *id, struct err *err)
{
	char path[MLFLOW_PATH_BYTES] = MLFLOW_API "runs/get?run_id=";
	size_t used = strlen(path);
	struct http_answer answer;

	http_encode(path + used, sizeof(path) - used, text_of(id), "");
	if (mlflow_call(m, "GET", path, NULL, (struct text){ "", 0 }, &answer,
		err) != 0 ||
	    mlflow_judge(m, &answer, err) != 0)
		return -1;
	if (mlflow_read_run(&m->run, answer.body, err) != 0)
		return err_prefix(err, "MLflow");
	return m->run.active
		   ? 0
		   : err_set(err, "the MLflow run %s is deleted", m->run.id);
}

/* A dry run sends no query, so it knows nothing about the run. */
static void
assume_run(struct mlflow *m, int64_t start_ms)
{
	m->run = (struct mlflow_run){ .start_ms = start_ms,
		.id = "RUN",
		.artifacts = "mlflow-artifacts:/EXPERIMENT/RUN/artifacts",
		.active = true,
		.running = true };
}

static int
split_names(
    struct names *names, const char *run, const char *slash, struct err *err)
{
	names->run = slash + 1;
	if (slash == run || slash[1] == '\0')
		return err_set_option(err, "target",
		    "mlflow:EXPERIMENT/NAME has an empty "
		    "name");
	if ((size_t)(slash - run) >= sizeof(names->experiment) ||
	    strlen(names->run) > NAME_BYTES)
		return err_set_option(err, "target",
		    "mlflow: names are longer than %d "
		    "bytes",
		    NAME_BYTES);
	if (strchr(names->run, '"') != NULL && strchr(names->run, '\'') != NULL)
		return err_set(err, "MLflow cannot find a run whose name "
				    "contains both kinds of quotes");
	memcpy(names->experiment, run, (size_t)(slash - run));
	names->experiment[slash - run] = '\0';
	return 0;
}

int
mlflow_select(struct mlflow *m, const char *run, struct text partition,
    int64_t start_ms, struct err *err)
{
	const char *slash = strrchr(run, '/');
	struct names names;
	int rc;

	if (slash != NULL && split_names(&names, run, slash, err) != 0)
		return -1;
	if (slash == NULL && strlen(run) > MLFLOW_ID_BYTES_MAX)
		return err_set_option(err, "target",
		    "mlflow: the id of a run is longer "
		    "than %d bytes",
		    MLFLOW_ID_BYTES_MAX);
	if (http_is_dry(m->http)) {
		assume_run(m, start_ms);
		rc = 0;
	} else if (slash != NULL) {
		rc = find_or_make(m, &names, partition, start_ms, err);
	} else {
		rc = get_run(m, run, err);
	}
	if (rc == 0)
		mlflow_begin(m);
	return rc;
}

const char *
mlflow_run_id(const struct mlflow *m)
{
	return m->run.id;
}

int64_t
mlflow_run_start_ms(const struct mlflow *m)
{
	return m->run.start_ms;
}

/* ---- artifacts ---- */

/* Where a server with --serve-artifacts accepts artifacts: a path of its own
 * scheme, which names no other host. */
static int
artifact_path(char to[static MLFLOW_PATH_BYTES], const struct mlflow *m,
    struct text name, struct err *err)
{
	static const char scheme[] = "mlflow-artifacts:";
	const char *at = m->run.artifacts;
	size_t used = strlen(MLFLOW_ARTIFACTS);
	char shown[200];
	bool passed = strncmp(at, scheme, sizeof(scheme) - 1) == 0;

	at += passed ? sizeof(scheme) - 1 : 0;
	at += strncmp(at, "///", 3) == 0 ? 2 : 0;
	if (!passed || at[0] != '/' || at[1] == '/')
		return err_set(err,
		    "the artifacts of run %s are stored at %s; start the "
		    "tracking server with --serve-artifacts to upload through "
		    "it",
		    m->run.id,
		    text_quote(
			shown, sizeof(shown), text_of(m->run.artifacts)));
	memcpy(to, MLFLOW_ARTIFACTS, used);
	used += http_encode(
	    to + used, MLFLOW_PATH_BYTES - used, text_of(at + 1), "/");
	to[used++] = '/';
	if (http_encode(to + used, MLFLOW_PATH_BYTES - used, name, "") == 0)
		return err_set(err, "the name of an artifact is too long");
	return 0;
}

static int
read_file(char **to, struct text *body, int fd, struct err *err)
{
	struct stat st;
	size_t bytes = 0;
	ssize_t n = 1;

	if (fstat(fd, &st) != 0)
		return err_set(err, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, "it is not a regular file");
	if (st.st_size > MLFLOW_ARTIFACT_BYTES_MAX)
		return err_set(err, "it is larger than %d MiB",
		    MLFLOW_ARTIFACT_BYTES_MAX >> 20);
	*to = memory_alloc((size_t)st.st_size + 1);
	while (n > 0 && bytes < (size_t)st.st_size) {
		n = pread(
		    fd, *to + bytes, (size_t)st.st_size - bytes, (off_t)bytes);
		bytes += n > 0 ? (size_t)n : 0;
	}
	if (n < 0)
		return err_set(err, "%s", strerror(errno));
	*body = (struct text){ *to, (uint32_t)bytes };
	return 0;
}

int
mlflow_put_artifact(struct mlflow *m, struct text name, int fd, struct err *err)
{
	char path[MLFLOW_PATH_BYTES], shown[200], *bytes = NULL;
	struct http_answer answer;
	struct text body;
	int rc = artifact_path(path, m, name, err);

	if (rc == 0 && read_file(&bytes, &body, fd, err) != 0)
		rc = err_prefix(
		    err, "%s", text_quote(shown, sizeof(shown), name));
	if (rc == 0)
		rc = mlflow_call(m, "PUT", path,
		    "Content-Type: application/octet-stream", body, &answer,
		    err);
	/* Version 3 answers with nothing, others with an object. */
	if (rc == 0 && (answer.status != 200 || answer.body.bytes > 0))
		rc = mlflow_judge(m, &answer, err);
	free(bytes);
	return rc;
}
