/*
 * http - requests to services outside, and their answers.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/http.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "exporters/ending.h"
#include "exporters/http_parts.h"
#include "proto/clock.h"
#include "proto/hash.h"
#include "proto/log.h"

enum {
	CONNECT_MS = 10000,
	REQUEST_MS = 60000,
	SILENCE_SECONDS = 30, /* no byte either way */
	BYTES_PER_MS = 64,    /* what a slow line takes at least */
	HEADER_BYTES_MAX = 64 << 10,
	PAUSE_FIRST_MS = 200,
	PAUSE_MS_MAX = 10000,
	POLL_MS = 1000,
};

/* Warn of an outage once, not with each request that meets it. */
#define WARN_EVERY_NS (60 * NS_PER_SECOND)

static struct {
	const char *cacert;
	int64_t patience_ns;
	bool dry_run;
} values = { .patience_ns = 60 * NS_PER_SECOND };

const struct opt http_options[] = {
	{ "cacert", 0, OPT_TEXT, &values.cacert, "FILE",
	    "trust the authorities of this PEM file, and no others", NULL,
	    false },
	{ "patience", 0, OPT_DURATION, &values.patience_ns, "DURATION",
	    "how long a request is tried again while the service does not "
	    "answer (60s)",
	    NULL, false },
	{ "dry-run", 0, OPT_FLAG, &values.dry_run, NULL,
	    "send nothing: print what would be sent", NULL, false },
	{ .name = NULL },
};

struct bytes {
	char *at;
	size_t bytes, room, limit;
	bool full; /* more came than there may be */
};

struct http {
	CURL *easy;
	CURLM *multi;
	char why[CURL_ERROR_SIZE];
	struct bytes headers, body;
	const char *address_fault; /* of whom it would have connected to */
	char place[HTTP_PLACE_BYTES], said[HTTP_SAID_BYTES];
	int64_t warned_ns; /* 0: not yet */
};

enum outcome { HTTP_ANSWERED, HTTP_AGAIN, HTTP_OVER };

bool
http_is_dry(void)
{
	return values.dry_run;
}

/* ---- what curl calls ---- */

static size_t
take(struct bytes *to, const char *from, size_t n)
{
	if (n > to->limit - to->bytes) {
		to->full = true;
		return 0;
	}
	if (n > to->room - to->bytes) {
		size_t room = 2 * (to->bytes + n) + 4096;

		to->at = realloc(to->at, room);
		if (to->at == NULL)
			abort(); /* out of memory */
		to->room = room;
	}
	memcpy(to->at + to->bytes, from, n);
	to->bytes += n;
	return n;
}

static size_t
on_bytes(char *from, size_t size, size_t count, void *to)
{
	return take(to, from, size * count);
}

/* curl calls this for each address it tries, after names are resolved. */
static curl_socket_t
on_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct http *http = arg;
	const char *fault = http_address_fault(&address->addr);

	(void)purpose;
	if (fault != NULL) {
		http->address_fault = fault;
		return CURL_SOCKET_BAD;
	}
	return socket(address->family, address->socktype | SOCK_CLOEXEC,
	    address->protocol);
}

/* ---- a handle ---- */

static void
set_up(struct http *http)
{
	CURL *easy = http->easy;

	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, http->why);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "poolscope/" VERSION);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(
	    easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
	curl_easy_setopt(
	    easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(
	    easy, CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (values.cacert != NULL) {
		curl_easy_setopt(easy, CURLOPT_CAINFO, values.cacert);
		curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
		curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, values.cacert);
	}
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)SILENCE_SECONDS);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 256L << 10);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_socket);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, http);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, &http->body);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_bytes);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, &http->headers);
}

int
http_open(struct http **to, struct err *err)
{
	struct http *http;

	if (values.cacert != NULL && access(values.cacert, R_OK) != 0)
		return err_set(
		    err, "--cacert %.200s: %s", values.cacert, strerror(errno));
	http = calloc(1, sizeof(*http));
	if (http == NULL)
		abort(); /* out of memory */
	http->headers.limit = HEADER_BYTES_MAX;
	http->body.limit = HTTP_ANSWER_BYTES_MAX;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) == 0)
		http->easy = curl_easy_init();
	if (http->easy != NULL)
		http->multi = curl_multi_init();
	if (http->multi == NULL) {
		http_close(&http);
		return err_set(err, "libcurl cannot be used");
	}
	set_up(http);
	*to = http;
	return 0;
}

void
http_close(struct http **to)
{
	struct http *http = *to;

	if (http == NULL)
		return;
	curl_easy_cleanup(http->easy);
	curl_multi_cleanup(http->multi);
	free(http->headers.at);
	free(http->body.at);
	free(http);
	*to = NULL;
}

/* ---- one request ---- */

static struct curl_slist *
add_line(struct curl_slist *list, const char *line)
{
	list = curl_slist_append(list, line);
	if (list == NULL)
		abort(); /* out of memory */
	return list;
}

static struct curl_slist *
make_headers(const struct http_request *request)
{
	/* Nothing that a caller did not ask for: no waiting for 100, no type
	 * of a form. */
	struct curl_slist *list = add_line(NULL, "Expect:");
	bool typed = false;

	for (uint32_t i = 0; request->headers[i] != NULL; i++) {
		const char *line = request->headers[i];
		size_t name = strcspn(line, ":");
		char empty[128];

		typed |= strncasecmp(line, "Content-Type:", 13) == 0;
		/* To curl "Name:" means none, "Name;" an empty one. */
		if (line[name] == ':' &&
		    strspn(line + name + 1, " ") == strlen(line + name + 1)) {
			snprintf(
			    empty, sizeof(empty), "%.*s;", (int)name, line);
			line = empty;
		}
		list = add_line(list, line);
	}
	return typed ? list : add_line(list, "Content-Type:");
}

static void
set_request(struct http *http, const struct http_request *request,
    struct curl_slist *headers)
{
	CURL *easy = http->easy;
	const char *method = request->method;
	int64_t ms = values.patience_ns / 1000000;
	bool has_body = request->body.bytes > 0 || strcmp(method, "PUT") == 0 ||
			strcmp(method, "POST") == 0;

	curl_easy_setopt(easy, CURLOPT_URL, request->url);
	curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, NULL);
	if (strcmp(method, "HEAD") == 0) {
		curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
	} else if (!has_body) {
		curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
	} else {
		curl_easy_setopt(easy, CURLOPT_POST, 1L);
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS,
		    request->body.bytes > 0 ? request->body.at : "");
		curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
		    (curl_off_t)request->body.bytes);
	}
	if (strcmp(method, "HEAD") != 0)
		curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
	ms = ms < 1000 ? 1000 : ms > REQUEST_MS ? REQUEST_MS : ms;
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
	    (long)(ms + request->body.bytes / BYTES_PER_MS));
}

/* Run it to its end; false: interrupted. */
static bool
perform(struct http *http, CURLcode *code)
{
	struct curl_waitfd ending = { .fd = ending_fd(),
		.events = CURL_WAIT_POLLIN };
	int running = 1, left;
	CURLMsg *message;

	*code = CURLE_FAILED_INIT;
	if (curl_multi_add_handle(http->multi, http->easy) != CURLM_OK)
		return true;
	while (curl_multi_perform(http->multi, &running) == CURLM_OK &&
	       running > 0 && !ending_is_asked())
		curl_multi_poll(
		    http->multi, &ending, ending.fd < 0 ? 0 : 1, POLL_MS, NULL);
	while ((message = curl_multi_info_read(http->multi, &left)) != NULL)
		if (message->msg == CURLMSG_DONE)
			*code = message->data.result;
	curl_multi_remove_handle(http->multi, http->easy);
	return running == 0;
}

/* What cannot be better the next time: a mistake in what was asked for, or a
 * service that is not what it should be. */
static bool
is_final(CURLcode code)
{
	switch (code) {
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
	case CURLE_PARTIAL_FILE:
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_AGAIN:
	case CURLE_PROXY: return false;
	default: return true;
	}
}

static const char *
curl_words(const struct http *http, CURLcode code)
{
	switch (code) {
	case CURLE_GOT_NOTHING:
		return "the connection was closed without an answer";
	case CURLE_PARTIAL_FILE: return "the connection was lost in an answer";
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY: return "what it answers is not HTTP/1";
	default:
		return http->why[0] != '\0' ? http->why
					    : curl_easy_strerror(code);
	}
}

static enum outcome
judge_failure(struct http *http, CURLcode code, struct err *err)
{
	char words[256];

	if (http->address_fault != NULL)
		err_set(err, "%s: its address %s; nothing is sent there",
		    http->place, http->address_fault);
	else if (http->body.full)
		err_set(err, "%s: the answer is larger than %d MiB",
		    http->place, HTTP_ANSWER_BYTES_MAX >> 20);
	else if (http->headers.full)
		err_set(err,
		    "%s: the headers of the answer are more than %d KiB",
		    http->place, HEADER_BYTES_MAX >> 10);
	else
		err_set(err, "%s: %s", http->place,
		    text_quote(
			words, sizeof(words), text_of(curl_words(http, code))));
	if (http->address_fault != NULL || http->body.full ||
	    http->headers.full || is_final(code))
		return HTTP_OVER;
	return HTTP_AGAIN;
}

static enum outcome
attempt(struct http *http, const struct http_request *request, long *status,
    struct err *err)
{
	struct curl_slist *headers = make_headers(request);
	CURLcode code;
	bool done;

	http->headers.bytes = http->body.bytes = 0;
	http->headers.full = http->body.full = false;
	http->why[0] = '\0';
	http->address_fault = NULL;
	set_request(http, request, headers);
	done = perform(http, &code);
	curl_slist_free_all(headers);
	*status = 0;
	if (!done) {
		err_set(err, "%s: interrupted", http->place);
		return HTTP_OVER;
	}
	if (code != CURLE_OK)
		return judge_failure(http, code, err);
	curl_easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, status);
	http_excerpt(http->said,
	    (struct text){ http->body.at, (uint32_t)http->body.bytes },
	    request);
	if (*status >= 200 && *status < 500 && *status != 429)
		return HTTP_ANSWERED;
	err_set(err, "%s answers %ld%s%s", http->place, *status,
	    http->said[0] != '\0' ? ": " : "", http->said);
	return *status == 429 || (*status >= 500 && *status < 600) ? HTTP_AGAIN
								   : HTTP_OVER;
}

/* ---- again and again ---- */

/* Doubles, and lies anywhere in its upper half: who was turned away together
 * does not come back together. */
static int64_t
back_off_ns(uint32_t attempts)
{
	int64_t ms = PAUSE_FIRST_MS;
	uint32_t random;

	for (uint32_t i = 1; i < attempts && ms < PAUSE_MS_MAX; i++)
		ms *= 2;
	if (ms > PAUSE_MS_MAX)
		ms = PAUSE_MS_MAX;
	random_bytes(&random, sizeof(random));
	ms = ms / 2 + (int64_t)(random % (uint32_t)(ms / 2 + 1));
	return ms * 1000000;
}

static int64_t
pause_ns(const struct http *http, long status, uint32_t attempts)
{
	int64_t ns;

	if ((status == 429 || status == 503) &&
	    http_retry_after(
		http_header(http, "Retry-After"), clock_wall_ns(), &ns))
		return ns;
	return back_off_ns(attempts);
}

static void
warn(struct http *http, const struct err *why)
{
	int64_t now_ns = clock_monotonic_ns();

	if (http->warned_ns != 0 && now_ns - http->warned_ns < WARN_EVERY_NS)
		return;
	http->warned_ns = now_ns;
	log_warn("%s; it is tried again", why->text);
}

int
http_send(struct http *http, const struct http_request *request,
    struct http_answer *answer, struct err *err)
{
	int64_t until_ns = clock_monotonic_ns() + values.patience_ns;
	enum outcome outcome;
	long status = 200;

	*answer = (struct http_answer){ .status = 200 };
	http_place(http->place, request->url);
	http->headers.bytes = 0;
	if (http_check(request, err) != 0)
		return -1;
	if (values.dry_run) {
		http_show(request);
		return 0;
	}
	for (uint32_t attempts = 1;; attempts++) {
		int64_t left_ns, ns;

		outcome = attempt(http, request, &status, err);
		if (outcome != HTTP_AGAIN)
			break;
		left_ns = until_ns - clock_monotonic_ns();
		if (left_ns <= 0)
			return err_prefix(
			    err, "tried %u times in vain", attempts);
		warn(http, err);
		ns = pause_ns(http, status, attempts);
		if (!ending_sleep(ns < left_ns ? ns : left_ns))
			return err_set(err, "%s: interrupted", http->place);
	}
	if (outcome == HTTP_OVER)
		return -1;
	answer->status = (int)status;
	answer->body =
	    (struct text){ http->body.at, (uint32_t)http->body.bytes };
	return 0;
}

struct text
http_header(const struct http *http, const char *name)
{
	return http_find_header(
	    (struct text){ http->headers.at, (uint32_t)http->headers.bytes },
	    name);
}

int
http_refused(
    const struct http *http, const struct http_answer *answer, struct err *err)
{
	struct text to = http_header(http, "Location");
	char place[HTTP_PLACE_BYTES], plain[1024];

	if (answer->status >= 300 && answer->status < 400 && to.bytes > 0) {
		snprintf(plain, sizeof(plain), "%.*s",
		    to.bytes > 1000 ? 1000 : (int)to.bytes, to.at);
		return err_set(err,
		    "%s answers %d, go to %s, which is not done", http->place,
		    answer->status, http_place(place, plain));
	}
	return err_set(err, "%s answers %d%s%s", http->place, answer->status,
	    http->said[0] != '\0' ? ": " : "", http->said);
}
