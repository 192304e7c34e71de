/*
 * http_send - send a request, with retries.
 * SPDX-License-Identifier: MIT
 */
#include "proto/http/http_private.h"

#include <stdio.h>
#include <strings.h>

#include "proto/hash/hash.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/service/interrupt.h"

enum { PAUSE_FIRST_MS = 200, PAUSE_MS_MAX = 10000, PAUSE_MS_MIN = 50 };

/* Limit of Retry-After when --retry-time is unlimited. */
#define PAUSE_NS_MAX (3600 * NS_PER_SECOND)

/* Warn once per outage, not for each failed request. */
#define WARN_EVERY_NS (60 * NS_PER_SECOND)

const struct opt http_options[] = {
	{ "cacert", 0, OPT_TEXT, OPT_TO(struct http_options, cacert), "FILE",
	    "trust only the certificate authorities in this PEM file" },
	{ "retry-time", 0, OPT_DURATION, OPT_TO(struct http_options, retry_ns),
	    "DURATION",
	    "retry a request for this long while the service does not answer "
	    "(default: 60s)" },
	{ "dry-run", 0, OPT_FLAG, OPT_TO(struct http_options, dry_run), NULL,
	    "print the requests instead of sending them" },
	{ .name = NULL },
};

bool
http_is_dry(const struct http *http)
{
	return http->options->dry_run;
}

/* ---- retries ---- */

/* Doubles; random within its upper half, so that clients rejected together do
 * not return together. */
static int64_t
back_off_ns(uint32_t attempts)
{
	int64_t ms = PAUSE_FIRST_MS;
	uint32_t random;

	for (uint32_t i = 1; i < attempts && ms < PAUSE_MS_MAX; i++)
		ms *= 2;
	if (ms > PAUSE_MS_MAX)
		ms = PAUSE_MS_MAX;
	hash_random_bytes(&random, sizeof(random));
	ms = ms / 2 + (int64_t)(random % (uint32_t)(ms / 2 + 1));
	return ms * 1000000;
}

static int64_t
pause_ns(const struct http *http, long status, uint32_t attempts)
{
	int64_t ns = status == 429 || status == 503 ? http_retry_ns(http) : 0;

	if (ns <= 0)
		return back_off_ns(attempts);
	return ns > PAUSE_MS_MIN * 1000000 ? ns : PAUSE_MS_MIN * 1000000;
}

static void
warn(struct http *http, const struct err *why)
{
	int64_t now_ns = clock_monotonic_ns();

	if (http->warned_ns != 0 && now_ns - http->warned_ns < WARN_EVERY_NS)
		return;
	http->warned_ns = now_ns;
	log_warn("%s; retrying", why->text);
}

/* Called before each attempt. */
static int
make_ready(const struct http_request *request, struct err *err)
{
	if (request->sign != NULL && request->sign(request->sign_arg, err) != 0)
		return -1;
	return http_check(request, err);
}

/* Retry until there is an answer or a permanent failure. */
static enum http_outcome
try_again(struct http *http, const struct http_request *request, long *status,
    struct err *err)
{
	int64_t until_ns = clock_monotonic_ns() + http->options->retry_ns;

	for (uint32_t attempts = 1;; attempts++) {
		enum http_outcome outcome =
		    http_attempt(http, request, status, err);
		int64_t left_ns = until_ns - clock_monotonic_ns(), ns;

		if (outcome != HTTP_AGAIN || http->options->once)
			return outcome;
		if (http->options->wait_out)
			left_ns = PAUSE_NS_MAX;
		if (left_ns <= 0) {
			if (attempts > 1)
				err_prefix(
				    err, "gave up after %u attempts", attempts);
			return HTTP_OVER;
		}
		warn(http, err);
		ns = pause_ns(http, *status, attempts);
		if (!interrupt_sleep(ns < left_ns ? ns : left_ns)) {
			err_set_code(err, ERR_INTERRUPTED, "%s: interrupted",
			    http->shown);
			return HTTP_OVER;
		}
		if (make_ready(request, err) != 0)
			return HTTP_OVER;
	}
}

int
http_send(struct http *http, const struct http_request *request,
    struct http_answer *answer, struct err *err)
{
	struct err why = {
		0
	}; /* error of an attempt; dropped if a later one succeeds */
	long status = 200;

	*answer = (struct http_answer){ .status = 200 };
	http_display_url(http->shown, request->url);
	if (make_ready(request, err) != 0)
		return -1;
	if (http->options->dry_run) {
		http_show(request);
		return 0;
	}
	if (try_again(http, request, &status, &why) != HTTP_ANSWERED)
		return err_set_code(err, why.code, "%s", why.text);
	answer->status = (int)status;
	answer->body = buffer_text(&http->body.buffer);
	return 0;
}

int
http_refused(
    const struct http *http, const struct http_answer *answer, struct err *err)
{
	struct text to = http_header(http, "Location");
	char shown[HTTP_DISPLAY_URL_BYTES], plain[1024];

	if (answer->status >= 300 && answer->status < 400 && to.bytes > 0) {
		snprintf(plain, sizeof(plain), "%.*s",
		    to.bytes > 1000 ? 1000 : (int)to.bytes, to.at);
		return err_set(err,
		    "%s answers %d with a redirect to %s, which is not "
		    "followed",
		    http->shown, answer->status,
		    http_display_url(shown, plain));
	}
	return err_set(err, "%s answers %d%s%s", http->shown, answer->status,
	    http->excerpt[0] != '\0' ? ": " : "", http->excerpt);
}

bool
http_is_page(const struct http *http, const struct http_answer *answer)
{
	struct text type = http_header(http, "Content-Type");
	struct text body = text_trim(answer->body);

	return (type.bytes >= 9 && strncasecmp(type.at, "text/html", 9) == 0) ||
	       (body.bytes >= 9 && strncasecmp(body.at, "<!doctype", 9) == 0) ||
	       (body.bytes >= 5 && strncasecmp(body.at, "<html", 5) == 0);
}

int
http_unconfirmed(
    const struct http *http, const struct http_answer *answer, struct err *err)
{
	return err_set(err,
	    "%s answers %d%s, which does not confirm that anything is stored; "
	    "another service or a proxy may answer there%s%s",
	    http->shown, answer->status,
	    http_is_page(http, answer) ? " with a page of HTML" : "",
	    http->excerpt[0] != '\0' ? ": " : "", http->excerpt);
}
