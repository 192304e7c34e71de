/*
 * datastore - results as entities of Google Cloud Datastore, or its emulator.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/targets/datastore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/cloud/google_credentials.h"
#include "exporters/upload/targets/target.h"
#include "proto/base/memory.h"
#include "proto/base/text.h"
#include "proto/json/json.h"
#include "proto/json/json_find.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

/* Parse Datastore's answer to a commit. */

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

enum {
	KEY_BYTES = 2 * RESULT_DIGEST_BYTES + 1 + 5 + 1,
	/* The size rules of the service's manual, "Storage size
	 * calculations". */
	ENTITY_OVERHEAD = 32,
	KEY_OVERHEAD = 16,
	TIME_BYTES = 8,
	NUMBER_BYTES_STORED = 8,
};

/* ---- destination ---- */

static int
take_id(char *to, struct text id, const char *what, struct err *err)
{
	static const char taken[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:";

	if (id.bytes == 0 || id.bytes > DATASTORE_ID_BYTES_MAX)
		return err_set(err, "a %s must have 1 to %d characters", what,
		    DATASTORE_ID_BYTES_MAX);
	memcpy(to, id.at, id.bytes);
	to[id.bytes] = '\0';
	if (strspn(to, taken) != id.bytes)
		return err_set(err,
		    "a %s may contain only letters, digits, '-', '.', '_' and "
		    "':'",
		    what);
	return 0;
}

int
datastore_location_read(
    struct datastore_location *location, const char *text, struct err *err)
{
	const char *slash = strchr(text, '/');
	struct text project = text_of(text);

	*location = (struct datastore_location){ "", "" };
	if (slash != NULL)
		project.bytes = (uint32_t)(slash - text);
	if (take_id(location->project, project, "project", err) != 0)
		return -1;
	return slash == NULL ? 0
			     : take_id(location->namespace, text_of(slash + 1),
				   "namespace", err);
}

/* ---- what is stored ---- */

struct datastore_item
datastore_item(struct json_relayout *again, const struct result_file *result,
    const struct result_entry *entry)
{
	struct datastore_item item = { result, entry, result->text };

	/* Invalid characters that Python accepts are passed through
	 * unchanged. */
	if (entry != NULL && !json_relayout(again, entry->info, &item.info))
		item.info = entry->info;
	return item;
}

/* ---- the limits ---- */

/* Size of a text property: its name and its value. */
static size_t
stored_bytes(const char *name, struct text value)
{
	return strlen(name) + 1 + value.bytes + 1;
}

static int
check_indexed(const char *what, struct text value, struct err *err)
{
	if (value.bytes <= DATASTORE_INDEXED_BYTES_MAX)
		return 0;
	return err_set(err,
	    "its %s is longer than %d bytes, the limit of an indexed property "
	    "in Datastore",
	    what, DATASTORE_INDEXED_BYTES_MAX);
}

static struct text
timing_text(const struct result_entry *entry)
{
	return entry->timing.type == VALUE_TEXT ? entry->timing.is.text
						: (struct text){ NULL, 0 };
}

int
datastore_check(const struct datastore_location *location,
    const struct datastore_item *item, struct err *err)
{
	const struct result_file *result = item->result;
	const struct result_entry *entry = item->entry;
	size_t bytes = ENTITY_OVERHEAD + KEY_OVERHEAD +
		       strlen(location->namespace) + 1 + KEY_BYTES +
		       sizeof("start") + TIME_BYTES +
		       stored_bytes("test", result->test) +
		       stored_bytes("info", item->info);
	int64_t ns;

	if (check_indexed("test's name", result->test, err) != 0)
		return -1;
	if (entry != NULL) {
		bytes += sizeof("Entry") + stored_bytes("entry", entry->name) +
			 NUMBER_BYTES_STORED +
			 stored_bytes("timing", timing_text(entry));
		if (check_indexed("entry's name", entry->name, err) != 0 ||
		    check_indexed("wallTime", timing_text(entry), err) != 0)
			return -1;
	} else {
		bytes += sizeof("Test");
	}
	if (__builtin_mul_overflow(result->start_us, 1000, &ns))
		return err_set(err, "its startTime is out of range");
	if (bytes <= DATASTORE_ENTITY_BYTES_MAX)
		return 0;
	return err_set(err,
	    "it is an entity of %zu bytes; Datastore accepts at most %d", bytes,
	    DATASTORE_ENTITY_BYTES_MAX);
}

/* ---- entities ---- */

static void
put_text(struct json *json, const char *name, struct text value, bool indexed)
{
	json_add_object(json, name);
	json_add_text(json, "stringValue", value);
	if (!indexed) {
		json_add_bool(json, "excludeFromIndexes", true);
	}
	json_end_object(json);
}

static void
put_start(struct json *json, int64_t start_us)
{
	char text[CLOCK_TEXT_BYTES];

	json_add_object(json, "start");
	json_add_string(
	    json, "timestampValue", clock_text(text, start_us * 1000, 6));
	json_end_object(json);
}

static void
put_timing(struct json *json, const struct value *timing)
{
	char digits[24];

	if (timing->type == VALUE_TEXT) {
		put_text(json, "timing", timing->is.text, true);
		return;
	}
	json_add_object(json, "timing");
	if (timing->type == VALUE_FLOAT) {
		json_add_float(json, "doubleValue", timing->is.f);
	} else {
		/* A string, like all 64-bit integers in the JSON mapping of
		 * protobuf. */
		snprintf(
		    digits, sizeof(digits), "%lld", (long long)timing->is.i);
		json_add_string(json, "integerValue", digits);
	}
	json_end_object(json);
}

static void
put_key(struct json *json, const struct datastore_location *location,
    const struct datastore_item *item)
{
	const struct result_file *result = item->result;
	const struct result_entry *entry = item->entry;
	char name[KEY_BYTES];
	char *end = text_hex(name, result->digest, RESULT_DIGEST_BYTES);

	*end = '\0';
	if (entry != NULL)
		snprintf(end, sizeof(name) - 2 * RESULT_DIGEST_BYTES, "/%05u",
		    (unsigned)(entry - result->entries) % 100000);
	json_add_object(json, "key");
	json_add_object(json, "partitionId");
	json_add_string(json, "projectId", location->project);
	if (location->namespace[0] != '\0') {
		json_add_string(json, "namespaceId", location->namespace);
	}
	json_end_object(json);
	json_add_array(json, "path");
	json_begin_object(json);
	json_add_string(json, "kind", entry != NULL ? "Entry" : "Test");
	json_add_string(json, "name", name);
	json_end_object(json);
	json_end_array(json);
	json_end_object(json);
}

static void
put_mutation(struct json *json, const struct datastore_location *location,
    const struct datastore_item *item)
{
	json_begin_object(json);
	json_add_object(json, "upsert");
	put_key(json, location, item);
	json_add_object(json, "properties");
	put_text(json, "test", item->result->test, true);
	put_start(json, item->result->start_us);
	if (item->entry != NULL) {
		put_text(json, "entry", item->entry->name, true);
		put_timing(json, &item->entry->timing);
	}
	put_text(json, "info", item->info, false);
	json_end_object(json);
	json_end_object(json);
	json_end_object(json);
}

/* ---- commits ---- */

struct json_batch
datastore_commit(void)
{
	return (struct json_batch){
		.begins = text_of(
		    "{\"mode\": \"NON_TRANSACTIONAL\", \"mutations\": ["),
		.ends = text_of("]}"),
		.items_max = DATASTORE_MUTATIONS_MAX,
		.bytes_max = DATASTORE_BODY_BYTES_MAX,
	};
}

/* A single entity fits: a byte of text has at most six when escaped. */
bool
datastore_add(struct json_batch *commit,
    const struct datastore_location *location,
    const struct datastore_item *item)
{
	struct json_memory mutation;
	bool fits;

	json_memory_begin(&mutation, JSON_STRICT);
	put_mutation(&mutation.to, location, item);
	fits = json_batch_add(commit, json_memory_end(&mutation));
	free(mutation.text);
	return fits;
}

/*
 * Upload results to Google Cloud Datastore, or its emulator.
 *
 * Commits are not transactions: upserts with the fixed keys of a file lead to
 * the same state in any order, and a repeated upload after a failure completes
 * what is stored.
 */

#define EMULATOR "DATASTORE_EMULATOR_HOST"
/* The variable of Google's own command line tool. */
#define OVERRIDE "CLOUDSDK_API_ENDPOINT_OVERRIDES_DATASTORE"
#define SERVICE  "https://datastore.googleapis.com"
#define SCOPE    "https://www.googleapis.com/auth/datastore"

enum { URL_BYTES = 1024, STATUS_UNAUTHORIZED = 401 };

struct target {
	struct http *http;
	struct datastore_location location;
	char url[URL_BYTES];
	bool is_emulator; /* an emulator needs no account */
	struct google_account account;
	struct google_token token;
	char authorization[GOOGLE_TOKEN_BYTES_MAX + 32];
	struct json_batch commit;
	struct json_relayout again;
	/* "datastore:PROJECT/NAMESPACE@ADDRESS" */
	char identity[URL_BYTES + 2 * DATASTORE_ID_BYTES_MAX + 32];
};

/* ---- address ---- */

static int
get_base(char to[static URL_BYTES], bool *is_emulator, struct err *err)
{
	static const char taken[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.:[]";
	const char *host = getenv(EMULATOR), *other = getenv(OVERRIDE);
	size_t bytes;

	*is_emulator = host != NULL && host[0] != '\0';
	if (*is_emulator) {
		if (strlen(host) > NAME_BYTES_MAX ||
		    strspn(host, taken) != strlen(host))
			return err_set(err, EMULATOR " is not HOST:PORT");
		snprintf(to, URL_BYTES, "http://%s", host);
		return 0;
	}
	if (other == NULL || other[0] == '\0')
		other = SERVICE;
	bytes = strlen(other);
	if (bytes > NAME_BYTES_MAX || !google_url_is_safe(other))
		return err_set(err, OVERRIDE " is neither https:// nor this "
					     "machine");
	while (bytes > 0 && other[bytes - 1] == '/')
		bytes--;
	snprintf(to, URL_BYTES, "%.*s", (int)bytes, other);
	return 0;
}

static int
make_url(struct target *target, struct err *err)
{
	char base[URL_BYTES], project[3 * DATASTORE_ID_BYTES_MAX + 1];

	if (get_base(base, &target->is_emulator, err) != 0)
		return -1;
	http_encode(
	    project, sizeof(project), text_of(target->location.project), "");
	if (snprintf(target->url, URL_BYTES, "%s/v1/projects/%s:commit", base,
		project) >= URL_BYTES)
		return err_set(err, OVERRIDE " is too long");
	snprintf(target->identity, sizeof(target->identity),
	    "datastore:%s/%s@%s", target->location.project,
	    target->location.namespace, base);
	return 0;
}

static void
target_close(struct target **target)
{
	if (*target == NULL)
		return;
	http_close(&(*target)->http);
	google_account_clear(&(*target)->account);
	google_token_drop(&(*target)->token);
	explicit_bzero(
	    (*target)->authorization, sizeof((*target)->authorization));
	json_batch_clear(&(*target)->commit);
	json_relayout_clear(&(*target)->again);
	free(*target);
	*target = NULL;
}

static int
target_open(struct target **target, const char *rest,
    const struct http_options *how, struct err *err)
{
	struct target *t = memory_zero(1, sizeof(*t));

	*target = t;
	t->commit = datastore_commit();
	json_relayout_init(&t->again);
	if (datastore_location_read(&t->location, rest, err) == 0 &&
	    make_url(t, err) == 0 &&
	    (t->is_emulator || google_account_open(&t->account, err) == 0) &&
	    http_open(&t->http, how, err) == 0)
		return 0;
	target_close(target);
	return -1;
}

/* ---- sending ---- */

/* Send once, with a token if one is needed. */
static int
send_once(struct target *t, struct text body, struct http_answer *answer,
    struct err *err)
{
	struct http_request request = {
		.method = "POST",
		.url = t->url,
		.headers = { "Content-Type: application/json" },
		.body = body,
	};

	if (!t->is_emulator) {
		/* A dry run requests no token. */
		if (!http_is_dry(t->http) &&
		    google_token_have(
			&t->token, &t->account, SCOPE, t->http, err) != 0)
			return -1;
		snprintf(t->authorization, sizeof(t->authorization),
		    "Authorization: Bearer %s", t->token.text);
		request.headers[1] = t->authorization;
	}
	return http_send(t->http, &request, answer, err);
}

static int
judge(const struct target *t, const struct http_answer *answer, struct err *err)
{
	if (http_is_dry(t->http))
		return 0;
	if (answer->status != 200) {
		if (!datastore_error_read(answer->body, err))
			return http_refused(t->http, answer, err);
		return err_prefix(err, "Datastore answers %d", answer->status);
	}
	if (datastore_answer_read(answer->body, t->commit.items, err) != 0)
		return err_prefix(err, "%s", t->url);
	return 0;
}

static int
send_commit(struct target *t, struct err *err)
{
	struct text body = json_batch_body(&t->commit);
	struct http_answer answer;
	int rc = send_once(t, body, &answer, err);

	/* The service may revoke a token before it expires. */
	if (rc == 0 && answer.status == STATUS_UNAUTHORIZED &&
	    !t->is_emulator) {
		google_token_drop(&t->token);
		rc = send_once(t, body, &answer, err);
	}
	if (rc == 0)
		rc = judge(t, &answer, err);
	json_batch_begin(&t->commit);
	return rc;
}

/* ---- results ---- */

static int
add(struct target *t, const struct datastore_item *item, struct err *err)
{
	if (datastore_add(&t->commit, &t->location, item))
		return 0;
	if (send_commit(t, err) != 0)
		return -1;
	return datastore_add(&t->commit, &t->location, item) ? 0 : -1;
}

/* An entry that exceeds a limit does not affect the others. */
static void
warn(const struct result_file *result, const struct result_entry *entry,
    const struct err *why)
{
	char test[100], name[100];

	log_warn("test %s: skipped entry %u (%s): %s",
	    text_quote(test, sizeof(test), result->test),
	    (unsigned)(entry - result->entries) + 1,
	    text_quote(name, sizeof(name), entry->name), why->text);
}

static int
put_result(struct target *t, const struct result_file *result, struct err *err)
{
	const struct datastore_item test =
	    datastore_item(&t->again, result, NULL);
	struct err why;
	int rc;

	if (datastore_check(&t->location, &test, err) != 0)
		return -1;
	json_batch_begin(&t->commit);
	rc = 0;
	for (uint32_t i = 0; rc == 0 && i < result->count; i++) {
		const struct datastore_item item =
		    datastore_item(&t->again, result, &result->entries[i]);

		if (datastore_check(&t->location, &item, &why) == 0)
			rc = add(t, &item, err);
		else
			warn(result, item.entry, &why);
	}
	if (rc == 0)
		rc = add(t, &test, err);
	return rc == 0 ? send_commit(t, err) : -1;
}

static const char *
get_identity(const struct target *t)
{
	return t->identity;
}

const struct target_type target_datastore = {
	.scheme = "datastore",
	.rest = "PROJECT[/NAMESPACE]",
	.takes = TARGET_RESULTS,
	.open = target_open,
	.close = target_close,
	.identity = get_identity,
	.put_result = put_result,
};
