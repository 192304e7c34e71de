/*
 * mlflow - requests to a tracking server: authentication and batches of
 * points.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/mlflow/mlflow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "exporters/cloud/mlflow/mlflow_private.h"
#include "proto/base/memory.h"
#include "proto/keys/secret.h"

#define URI  "MLFLOW_TRACKING_URI"
#define USER "MLFLOW_TRACKING_USERNAME"
#define WORD "MLFLOW_TRACKING_PASSWORD"
#define KEY  "MLFLOW_TRACKING_TOKEN"

#define LOG_BATCH MLFLOW_API "runs/log-batch"

enum { STATUS_OK = 200 };

/* ---- JSON ---- */

void
mlflow_json_begin(struct json_memory *json)
{
	json_memory_begin(json, JSON_STRICT);
	json_begin_object(&json->to);
}

struct text
mlflow_json_end(struct json_memory *json)
{
	json_end_object(&json->to);
	return json_memory_end(json);
}

void
mlflow_json_put(struct json_memory *json, const char *name, const char *value)
{
	json_add_string(&json->to, name, value);
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

int
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

int
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

int
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

void
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
	mlflow_json_put(&json, "run_id", m->run.id);
	mlflow_json_put(&json, "status", "FINISHED");
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
