/*
 * mlflow - a run on an MLflow tracking server: metrics, parameters, artifacts.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/mlflow.h"

#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/json/json.h"
#include "proto/keys/secret.h"

enum {
	MLFLOW_BASE_BYTES_MAX = 1000,
	MLFLOW_PATH_BYTES = 4 * MLFLOW_URI_BYTES_MAX + 4096,
};

struct mlflow {
	struct http *http;
	char base[MLFLOW_BASE_BYTES_MAX + 1]; /* without a trailing "/" */
	char *authorization; /* the header, in memory that is zeroed when freed;
				NULL: none */
	struct mlflow_run run;
	char *begins[2]; /* text before the items of `metrics` and `params` */
	struct json_batch metrics, params;
	/* Of `metrics`, while it is sent. */
	struct deliver_lines lines;
	struct buffer part;
	struct deliver_state state;
};

#define MLFLOW_API       "/api/2.0/mlflow/"
#define MLFLOW_ARTIFACTS "/api/2.0/mlflow-artifacts/artifacts/"

#define URI  "MLFLOW_TRACKING_URI"
#define USER "MLFLOW_TRACKING_USERNAME"
#define WORD "MLFLOW_TRACKING_PASSWORD"
#define KEY  "MLFLOW_TRACKING_TOKEN"

#define LOG_BATCH MLFLOW_API "runs/log-batch"

enum { STATUS_OK = 200 };

/* ---- JSON ---- */

/* A JSON object that is written to memory. */
static void
mlflow_json_begin(struct json_memory *json)
{
	json_memory_begin(json, JSON_STRICT);
	json_begin_object(&json->to);
}

static struct text
mlflow_json_end(struct json_memory *json)
{
	json_end_object(&json->to);
	return json_memory_end(json);
}

/* ---- address and authentication ---- */

static int
read_base(struct mlflow *m, struct err *err)
{
	const char *uri = getenv(URI);
	size_t bytes = uri != NULL ? strlen(uri) : 0;

	if (bytes == 0)
		return err_set(err,
		    URI " must be set to the http:// or https:// address "
			"of the tracking server");
	if ((strncmp(uri, "http://", 7) != 0 &&
		strncmp(uri, "https://", 8) != 0) ||
	    bytes > MLFLOW_BASE_BYTES_MAX || strpbrk(uri, " \t\r\n?#"))
		return err_set(err, URI " is not an http:// or https:// "
					"address of a tracking server");
	/* Messages would show the user. */
	if (strchr(uri, '@') != NULL)
		return err_set(err,
		    URI " contains a user; set " USER " and " WORD " instead");
	while (bytes > 0 && uri[bytes - 1] == '/')
		bytes--;
	memcpy(m->base, uri, bytes);
	m->base[bytes] = '\0';
	return 0;
}

/* Reject characters that could end the header. */
static int
get_secret(
    struct secret *secret, const char *name, bool *found, struct err *err)
{
	if (secret_from_environment(secret, name, found, err) != 0)
		return -1;
	for (uint32_t i = 0; *found && i < secret->bytes; i++) {
		if (secret->at[i] >= ' ' && secret->at[i] != 0x7F)
			continue;
		secret_clear(secret);
		return err_set(err, "%s contains control characters", name);
	}
	return 0;
}

static void
set_authorization(struct mlflow *m, const char *scheme, const char *rest)
{
	size_t bytes =
	    sizeof("Authorization:  ") + strlen(scheme) + strlen(rest);

	m->authorization = memory_must(sodium_malloc(bytes));
	snprintf(m->authorization, bytes, "Authorization: %s %s", scheme, rest);
}

static void
set_basic(
    struct mlflow *m, const struct secret *user, const struct secret *word)
{
	size_t bytes = user->bytes + 1 + word->bytes;
	size_t room =
	    sodium_base64_ENCODED_LEN(bytes, sodium_base64_VARIANT_ORIGINAL);
	char *pair = memory_must(sodium_malloc(bytes + 1));
	char *encoded = memory_must(sodium_malloc(room));

	snprintf(pair, bytes + 1, "%s:%s", (const char *)user->at,
	    (const char *)word->at);
	sodium_bin2base64(encoded, room, (const unsigned char *)pair, bytes,
	    sodium_base64_VARIANT_ORIGINAL);
	set_authorization(m, "Basic", encoded);
	sodium_free(pair);
	sodium_free(encoded);
}

/* As in MLflow's own client, a password takes precedence over a token. */
static int
read_authorization(struct mlflow *m, struct err *err)
{
	struct secret user, word, key;
	bool has_user, has_word = false, has_key = false;
	int rc;

	if (get_secret(&user, USER, &has_user, err) != 0)
		return -1;
	rc = get_secret(&word, WORD, &has_word, err);
	if (rc == 0 && has_user != has_word)
		rc = err_set(err, "of " USER " and " WORD " there is only one");
	if (rc == 0 && has_user)
		set_basic(m, &user, &word);
	else if (rc == 0)
		rc = get_secret(&key, KEY, &has_key, err);
	if (has_key) {
		set_authorization(m, "Bearer", (const char *)key.at);
		secret_clear(&key);
	}
	if (has_user)
		secret_clear(&user);
	if (has_word)
		secret_clear(&word);
	return rc;
}

int
mlflow_open(
    struct mlflow **mlflow, const struct http_options *how, struct err *err)
{
	struct mlflow *m = memory_zero(1, sizeof(*m));

	*mlflow = m;
	if (read_base(m, err) == 0 && read_authorization(m, err) == 0 &&
	    http_open(&m->http, how, err) == 0)
		return 0;
	mlflow_close(mlflow);
	return -1;
}

void
mlflow_close(struct mlflow **mlflow)
{
	struct mlflow *m = *mlflow;

	if (m == NULL)
		return;
	http_close(&m->http);
	sodium_free(m->authorization);
	json_batch_clear(&m->metrics);
	json_batch_clear(&m->params);
	buffer_clear(&m->part);
	free(m->begins[0]);
	free(m->begins[1]);
	free(m);
	*mlflow = NULL;
}

/* ---- requests ---- */

/* Send `body` (JSON unless `type` is set) to base + path; returns 0 for any
 * answer. */
static int
mlflow_call(struct mlflow *m, const char *method, const char *path,
    const char *type, struct text body, struct http_answer *answer,
    struct err *err)
{
	char url[MLFLOW_BASE_BYTES_MAX + MLFLOW_PATH_BYTES];
	struct http_request request = {
		.method = method,
		.url = url,
		.headers = { type != NULL ? type
					  : "Content-Type: application/json",
		    m->authorization },
		.body = body,
	};

	snprintf(url, sizeof(url), "%s%s", m->base, path);
	return http_send(m->http, &request, answer, err);
}

/* Describe an unexpected answer in `err`; returns -1. */
static int
mlflow_judge(
    const struct mlflow *m, const struct http_answer *answer, struct err *err)
{
	/* MLflow answers with an object. */
	if (answer->status == STATUS_OK)
		return http_is_dry(m->http) || mlflow_is_object(answer->body)
			   ? 0
			   : http_unconfirmed(m->http, answer, err);
	if (!mlflow_read_error(answer->body, err))
		return http_refused(m->http, answer, err);
	return err_prefix(err, "MLflow answers %d", answer->status);
}

/* Send `body`; any answer other than 2xx is a failure. */
static int
mlflow_post(struct mlflow *m, const char *path, struct text body,
    struct http_answer *answer, struct err *err)
{
	if (mlflow_call(m, "POST", path, NULL, body, answer, err) != 0)
		return -1;
	return mlflow_judge(m, answer, err);
}

/* ---- batches ---- */

static struct json_batch
make_batch(char **begins, const char *id, const char *list, uint32_t items_max)
{
	*begins = memory_format("{\"run_id\": \"%s\", \"%s\": [", id, list);
	return (struct json_batch){ .begins = text_of(*begins),
		.ends = text_of("]}"),
		.items_max = items_max,
		.bytes_max = MLFLOW_REQUEST_BYTES_MAX };
}

/* Call once the run is known. */
static void
mlflow_begin(struct mlflow *m)
{
	m->metrics =
	    make_batch(&m->begins[0], m->run.id, "metrics", MLFLOW_METRICS_MAX);
	m->params =
	    make_batch(&m->begins[1], m->run.id, "params", MLFLOW_PARAMS_MAX);
}

/* Without the comma behind the last item. */
static struct text
items_of(const struct deliver_lines *lines, uint32_t from, uint32_t upto)
{
	struct text items = deliver_lines_part(lines, from, upto);

	while (items.bytes > 0 && items.at[items.bytes - 1] != '}')
		items.bytes--;
	return items;
}

static enum deliver_result
send_metrics(void *arg, uint32_t from, uint32_t upto, struct err *err)
{
	struct mlflow *m = arg;
	struct http_answer answer;

	m->part.bytes = 0;
	buffer_put_text(&m->part, m->metrics.begins);
	buffer_put_text(&m->part, items_of(&m->lines, from, upto));
	buffer_put_text(&m->part, m->metrics.ends);
	if (mlflow_call(m, "POST", LOG_BATCH, NULL, buffer_text(&m->part),
		&answer, err) != 0)
		return DELIVER_FAILED;
	if (mlflow_judge(m, &answer, err) == 0)
		return DELIVER_STORED;
	return answer.status == 400 || answer.status == 413 ? DELIVER_REFUSED
							    : DELIVER_FAILED;
}

static struct text
show_metric(void *arg, uint32_t item)
{
	struct mlflow *m = arg;

	return items_of(&m->lines, item, item + 1);
}

static int
deliver_metrics(struct mlflow *m, struct err *err)
{
	const struct deliver how = { m, send_metrics, show_metric, false };
	struct text body = buffer_text(&m->metrics.body);
	uint32_t begin = m->metrics.begins.bytes, left_out;
	int rc;

	deliver_lines_init(
	    &m->lines, (struct text){ body.at + begin, body.bytes - begin });
	rc = deliver(&how, &m->state, m->lines.count, &left_out, err);
	deliver_lines_clear(&m->lines);
	return rc;
}

uint64_t
mlflow_left_out(const struct mlflow *m)
{
	return m->state.left_out;
}

/* A parameter that is refused has another value already: that is a failure. */
static int
send_batch(struct mlflow *m, struct json_batch *batch, struct err *err)
{
	struct http_answer answer;
	int rc;

	if (batch->items == 0)
		return 0;
	if (batch == &m->metrics)
		rc = deliver_metrics(m, err);
	else
		rc = mlflow_post(
		    m, LOG_BATCH, json_batch_body(batch), &answer, err);
	json_batch_begin(batch);
	return rc;
}

static int
put(struct mlflow *m, struct json_batch *batch, struct json_memory *item,
    struct err *err)
{
	struct text text = mlflow_json_end(item);
	int rc = 0;

	if (!json_batch_add(batch, text)) {
		rc = send_batch(m, batch, err);
		if (rc == 0)
			json_batch_add(batch, text);
	}
	free(item->text);
	return rc;
}

int
mlflow_put_metric(struct mlflow *m, struct text key, double value,
    int64_t time_ms, int64_t step, struct err *err)
{
	struct json_memory item;

	if (!isfinite(value))
		return 0;
	mlflow_json_begin(&item);
	json_add_text(&item.to, "key", key);
	json_add_float(&item.to, "value", value);
	json_add_int(&item.to, "timestamp", time_ms);
	json_add_int(&item.to, "step", step);
	return put(m, &m->metrics, &item, err);
}

int
mlflow_put_param(
    struct mlflow *m, struct text key, struct text value, struct err *err)
{
	struct json_memory item;

	mlflow_json_begin(&item);
	json_add_text(&item.to, "key", key);
	json_add_text(&item.to, "value", value);
	return put(m, &m->params, &item, err);
}

static int
end_run(struct mlflow *m, int64_t end_ms, struct err *err)
{
	struct http_answer answer;
	struct json_memory json;
	int rc;

	mlflow_json_begin(&json);
	json_add_string(&json.to, "run_id", m->run.id);
	json_add_string(&json.to, "status", "FINISHED");
	json_add_int(&json.to, "end_time", end_ms);
	rc = mlflow_post(
	    m, MLFLOW_API "runs/update", mlflow_json_end(&json), &answer, err);
	free(json.text);
	return rc;
}

int
mlflow_flush(struct mlflow *m, struct err *err)
{
	int rc = send_batch(m, &m->params, err);

	return rc == 0 ? send_batch(m, &m->metrics, err) : -1;
}

int
mlflow_finish(struct mlflow *m, int64_t end_ms, struct err *err)
{
	if (mlflow_flush(m, err) != 0)
		return -1;
	return m->run.ours && m->run.running ? end_run(m, end_ms, err) : 0;
}

/* Find or create a run, and upload artifacts. */

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
	json_add_string(&json.to, "name", names->experiment);
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
	json_add_string(&json->to, "filter", filter);
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
	json_add_string(&json.to, "run_view_type", "ACTIVE_ONLY");
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
	json_add_string(&json.to, "experiment_id", experiment);
	json_add_string(&json.to, "run_name", names->run);
	json_add_int(&json.to, "start_time", start_ms);
	json_add_array(&json.to, "tags");
	json_begin_object(&json.to);
	json_add_string(&json.to, "key", MLFLOW_OURS);
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
	struct text body = { NULL, 0 };
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
