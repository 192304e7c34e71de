/*
 * datastore_target - upload results to Google Cloud Datastore, or its
 * emulator.
 *
 * Commits are not transactions: upserts with the fixed keys of a file lead to
 * the same state in any order, and a repeated upload after a failure completes
 * what is stored.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/cloud/google_credentials.h"
#include "exporters/upload/targets/datastore.h"
#include "exporters/upload/targets/target.h"
#include "proto/base/memory.h"
#include "proto/os/log.h"

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
