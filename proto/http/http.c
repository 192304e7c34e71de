/*
 * http - HTTP requests to external services.
 * SPDX-License-Identifier: MIT
 */
#include "proto/http/http_private.h"

#include "proto/base/memory.h"
#include "proto/base/version.h"
#include "proto/http/libcurl.h"
#include "proto/http/message.h"
#include "proto/os/clock.h"
#include "proto/service/interrupt.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
	CONNECT_MS = 10000,
	REQUEST_MS = 60000,
	ONCE_MS = 300000,     /* a request that is sent once */
	SILENCE_SECONDS = 30, /* timeout without a transferred byte */
	BYTES_PER_MS =
	    64, /* minimum rate that is expected of a slow connection */
	HEADER_BYTES_MAX = 64 << 10,
	POLL_MS = 1000,
	STOP_POLL_MS = 200, /* how late http_options.stop is seen */
};

_Static_assert((int)HTTP_WHY_BYTES >= CURL_ERROR_SIZE, "room for a sentence");

/* ---- callbacks of curl ---- */

static size_t
take(struct http_bytes *to, const char *from, size_t n)
{
	if (n > to->limit - to->buffer.bytes) {
		to->full = true;
		return 0;
	}
	buffer_put(&to->buffer, from, n);
	return n;
}

static size_t
on_bytes(char *from, size_t size, size_t count, void *to)
{
	return take(to, from, size * count);
}

/* curl stores the headers; count their bytes here, and detect their end.
 * Headers of interim answers (100 Continue) may come first, trailers last. */
static size_t
on_header(char *line, size_t size, size_t count, void *arg)
{
	struct http *http = arg;
	size_t bytes = size * count;

	if (bytes > HEADER_BYTES_MAX - http->header_bytes) {
		http->headers_full = true;
		return 0;
	}
	http->header_bytes += bytes;
	if (bytes > 5 && memcmp(line, "HTTP/", 5) == 0)
		http->headers_end = false;
	else if (text_trim((struct text){ line, (uint32_t)bytes }).bytes == 0)
		http->headers_end = true;
	return bytes;
}

static bool
is_loopback(const struct sockaddr *address)
{
	struct sockaddr_in ip4;
	struct sockaddr_in6 ip6;

	switch (address->sa_family) {
	case AF_INET:
		memcpy(&ip4, address, sizeof(ip4));
		return ntohl(ip4.sin_addr.s_addr) >> 24 == 127;
	case AF_INET6:
		memcpy(&ip6, address, sizeof(ip6));
		return IN6_IS_ADDR_LOOPBACK(&ip6.sin6_addr);
	default: return address->sa_family == AF_UNIX;
	}
}

/* curl calls this for each address it tries, after name resolution. */
static curl_socket_t
on_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct http *http = arg;
	const char *fault = NULL;

	(void)purpose;
	if (http->options->socket == NULL)
		fault = http_address_fault(&address->addr);
	if (fault == NULL && http->options->here &&
	    !is_loopback(&address->addr))
		fault = "is not of this host";
	if (fault != NULL) {
		http->address_fault = fault;
		return CURL_SOCKET_BAD;
	}
	return socket(address->family, address->socktype | SOCK_CLOEXEC,
	    address->protocol);
}

/* ---- handles ---- */

static void
set_up(struct http *http)
{
	CURL *easy = http->easy;

	libcurl.easy_setopt(easy, CURLOPT_ERRORBUFFER, http->why);
	libcurl.easy_setopt(easy, CURLOPT_USERAGENT, "poolscope/" VERSION);
	libcurl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	libcurl.easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	libcurl.easy_setopt(
	    easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	libcurl.easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
	libcurl.easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
	libcurl.easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
	libcurl.easy_setopt(
	    easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	libcurl.easy_setopt(
	    easy, CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (http->options->cacert != NULL) {
		libcurl.easy_setopt(
		    easy, CURLOPT_CAINFO, http->options->cacert);
		libcurl.easy_setopt(easy, CURLOPT_CAPATH, NULL);
		libcurl.easy_setopt(
		    easy, CURLOPT_PROXY_CAINFO, http->options->cacert);
		/* The file may be replaced while the handle lives. */
		libcurl.easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 0L);
	}
	libcurl.easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	/* Signals belong to the process, not to one of its threads. */
	if (http->options->stop != NULL)
		libcurl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	if (http->options->direct)
		libcurl.easy_setopt(easy, CURLOPT_PROXY, "");
	if (http->options->socket != NULL)
		libcurl.easy_setopt(
		    easy, CURLOPT_UNIX_SOCKET_PATH, http->options->socket);
	if (http->options->compressed)
		libcurl.easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
	libcurl.easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	libcurl.easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	libcurl.easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 256L << 10);
	libcurl.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_socket);
	libcurl.easy_setopt(easy, CURLOPT_OPENSOCKETDATA, http);
	libcurl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
	libcurl.easy_setopt(easy, CURLOPT_WRITEDATA, &http->body);
	libcurl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	libcurl.easy_setopt(easy, CURLOPT_HEADERDATA, http);
}

int
http_open(struct http **to, const struct http_options *options, struct err *err)
{
	struct http *http;

	if (options->cacert != NULL && access(options->cacert, R_OK) != 0)
		return err_set_option(err, "cacert", "%.200s: %s",
		    options->cacert, strerror(errno));
	if (libcurl_load(err) != 0)
		return -1;
	http = memory_zero(1, sizeof(*http));
	http->options = options;
	http->body.limit = options->answer_bytes_max > 0
			       ? options->answer_bytes_max
			       : HTTP_ANSWER_BYTES_MAX;
	http->easy = libcurl.easy_init();
	if (http->easy != NULL)
		http->multi = libcurl.multi_init();
	if (http->multi == NULL) {
		http_close(&http);
		return err_set(err, "cannot initialize libcurl");
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
	libcurl.easy_cleanup(http->easy);
	libcurl.multi_cleanup(http->multi);
	buffer_clear(&http->body.buffer);
	free(http);
	*to = NULL;
}

/* ---- one request ---- */

static struct curl_slist *
add_line(struct curl_slist *list, const char *line)
{
	return memory_must(libcurl.slist_append(list, line));
}

static struct curl_slist *
make_headers(const struct http_request *request)
{
	/* Suppress headers that the caller did not request: no waiting for
	 * 100, no form content type. */
	struct curl_slist *list = add_line(NULL, "Expect:");
	bool typed = false;

	for (uint32_t i = 0; request->headers[i] != NULL; i++) {
		const char *line = request->headers[i];
		size_t name = strcspn(line, ":");
		char empty[128];

		typed |= strncasecmp(line, "Content-Type:", 13) == 0;
		/* curl drops a header "Name:" and sends "Name;" as an empty
		 * one. */
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
set_limits(struct http *http, const struct http_request *request)
{
	const struct http_options *options = http->options;
	int64_t ms = options->retry_ns / 1000000,
		silent_ms = options->silence_ns / 1000000;

	silent_ms = silent_ms > 0 ? silent_ms : SILENCE_SECONDS * 1000;
	ms = ms < 1000 ? 1000 : ms > REQUEST_MS ? REQUEST_MS : ms;
	libcurl.easy_setopt(http->easy, CURLOPT_CONNECTTIMEOUT_MS,
	    (long)(silent_ms < CONNECT_MS ? silent_ms : CONNECT_MS));
	libcurl.easy_setopt(http->easy, CURLOPT_LOW_SPEED_TIME,
	    (long)((silent_ms + 999) / 1000));
	if (options->once)
		ms =
		    options->once_ns > 0 ? options->once_ns / 1000000 : ONCE_MS;
	libcurl.easy_setopt(http->easy, CURLOPT_TIMEOUT_MS,
	    (long)(ms + request->body.bytes / BYTES_PER_MS));
}

static void
set_request(struct http *http, const struct http_request *request,
    const struct http_address *address, struct curl_slist *headers)
{
	CURL *easy = http->easy;
	const char *method = request->method;
	bool has_body = request->body.bytes > 0 || strcmp(method, "PUT") == 0 ||
			strcmp(method, "POST") == 0;

	libcurl.easy_setopt(easy, CURLOPT_CURLU, address->curl);
	libcurl.easy_setopt(easy, CURLOPT_CUSTOMREQUEST, NULL);
	if (strcmp(method, "HEAD") == 0) {
		libcurl.easy_setopt(easy, CURLOPT_NOBODY, 1L);
	} else if (!has_body) {
		libcurl.easy_setopt(easy, CURLOPT_HTTPGET, 1L);
	} else {
		libcurl.easy_setopt(easy, CURLOPT_POST, 1L);
		libcurl.easy_setopt(easy, CURLOPT_POSTFIELDS,
		    request->body.bytes > 0 ? request->body.at : "");
		libcurl.easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
		    (curl_off_t)request->body.bytes);
	}
	if (strcmp(method, "HEAD") != 0)
		libcurl.easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
	libcurl.easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
	set_limits(http, request);
}

/* A signal, or another thread, ends the request. */
static bool
is_ending(const struct http *http)
{
	return interrupt_is_pending() || (http->options->stop != NULL &&
					     atomic_load(http->options->stop));
}

/* Run the transfer until it ends; false if interrupted. */
static bool
perform(struct http *http, CURLcode *code)
{
	struct curl_waitfd ending = { .fd = interrupt_fd(),
		.events = CURL_WAIT_POLLIN };
	int running = 1, left,
	    poll_ms = http->options->stop != NULL ? STOP_POLL_MS : POLL_MS;
	CURLMcode rc = libcurl.multi_add_handle(http->multi, http->easy);
	CURLMsg *message;

	*code = CURLE_FAILED_INIT;
	while (
	    rc == CURLM_OK &&
	    (rc = libcurl.multi_perform(http->multi, &running)) == CURLM_OK &&
	    running > 0 && !is_ending(http))
		rc = libcurl.multi_poll(
		    http->multi, &ending, ending.fd < 0 ? 0 : 1, poll_ms, NULL);
	if (rc != CURLM_OK)
		snprintf(http->why, sizeof(http->why), "libcurl: %s",
		    libcurl.multi_strerror(rc));
	while ((message = libcurl.multi_info_read(http->multi, &left)) != NULL)
		if (message->msg == CURLMSG_DONE)
			*code = message->data.result;
	libcurl.multi_remove_handle(http->multi, http->easy);
	return running == 0 || rc != CURLM_OK;
}

/* Failures that a retry cannot fix: an error in the request, or a service that
 * does not speak HTTP correctly. */
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
	case CURLE_PARTIAL_FILE:
		return "the connection was lost during the answer";
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY: return "the answer is not HTTP/1";
	default:
		return http->why[0] != '\0' ? http->why
					    : libcurl.easy_strerror(code);
	}
}

static int
words_of(const struct http *http, CURLcode code, struct err *err)
{
	char words[NAME_BYTES_MAX + 1];

	snprintf(words, sizeof(words), "%s", curl_words(http, code));
	http_plain(words);
	return err_set(err, "%s: %s", http->shown, words);
}

static enum http_outcome
judge_failure(struct http *http, CURLcode code, struct err *err)
{
	if (http->address_fault != NULL)
		err_set(err, "%s: its address %s; the request was not sent",
		    http->shown, http->address_fault);
	else if (http->body.full)
		err_set(err, "%s: the answer is larger than %zu MiB",
		    http->shown, http->body.limit >> 20);
	else if (http->headers_full)
		err_set(err,
		    "%s: the headers of the answer are larger than %d KiB",
		    http->shown, HEADER_BYTES_MAX >> 10);
	else
		words_of(http, code, err);
	if (http->address_fault != NULL || http->body.full ||
	    http->headers_full || is_final(code))
		return HTTP_OVER;
	return HTTP_AGAIN;
}

enum http_outcome
http_attempt(struct http *http, const struct http_request *request,
    long *status, struct err *err)
{
	struct curl_slist *headers;
	struct http_address address;
	CURLcode code;
	bool done;

	*status = 0;
	if (http_address_open(&address, request->url, err) != 0)
		return HTTP_OVER;
	headers = make_headers(request);
	http->header_bytes = http->body.buffer.bytes = 0;
	http->headers_end = http->headers_full = http->body.full = false;
	http->why[0] = '\0';
	http->address_fault = NULL;
	set_request(http, request, &address, headers);
	done = perform(http, &code);
	libcurl.easy_setopt(http->easy, CURLOPT_HTTPHEADER, NULL);
	libcurl.easy_setopt(http->easy, CURLOPT_CURLU, NULL);
	libcurl.slist_free_all(headers);
	http_address_close(&address);
	if (!done) {
		err_set_code(
		    err, ERR_INTERRUPTED, "%s: interrupted", http->shown);
		return HTTP_OVER;
	}
	/* curl accepts an answer that ends within its headers. */
	if (code == CURLE_OK && !http->headers_end)
		code = CURLE_PARTIAL_FILE;
	if (code != CURLE_OK)
		return judge_failure(http, code, err);
	libcurl.easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, status);
	http_excerpt(http->excerpt, buffer_text(&http->body.buffer), request);
	if (*status >= 200 && *status < 600 &&
	    (http->options->once || !http_is_temporary(*status)))
		return HTTP_ANSWERED;
	err_set(err, "%s answers %ld%s%s", http->shown, *status,
	    http->excerpt[0] != '\0' ? ": " : "", http->excerpt);
	return http_is_temporary(*status) ? HTTP_AGAIN : HTTP_OVER;
}

bool
http_is_temporary(long status)
{
	switch (status) {
	case 408: /* the service waited too long for the request */
	case 425: /* it was sent too early */
	case 429: return true;
	case 501: /* the service does not know such requests */
	case 505: return false;
	default: return status >= 500 && status < 600;
	}
}

/* ---- the answer ---- */

struct text
http_header(const struct http *http, const char *name)
{
	struct curl_header *header = NULL;
	struct text none = { NULL, 0 };

	/* Use the last of several headers of this name. */
	if (libcurl.easy_header(
		http->easy, name, 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
		return none;
	if (header->amount > 1 &&
	    libcurl.easy_header(http->easy, name, header->amount - 1,
		CURLH_HEADER, -1, &header) != CURLHE_OK)
		return none;
	return text_of(header->value);
}

int64_t
http_retry_ns(const struct http *http)
{
	struct text value = http_header(http, "Retry-After");
	curl_off_t seconds = 0;

	/* curl does not tell "0" from a value that it cannot read. */
	if (text_equal(value, text_of("0")))
		return 1;
	if (value.bytes > 0)
		libcurl.easy_getinfo(
		    http->easy, CURLINFO_RETRY_AFTER, &seconds);
	/* A date may be in the past. */
	if (seconds <= 0)
		return 0;
	return seconds < INT64_MAX / NS_PER_SECOND ? seconds * NS_PER_SECOND
						   : INT64_MAX;
}

/* Files that curl and OpenSSL read instead of their built-in defaults, and the
 * Google account. */
static bool
names_file(struct text variable)
{
	static const char *const names[] = { "CURL_CA_BUNDLE", "SSL_CERT_DIR",
		"GOOGLE_APPLICATION_CREDENTIALS" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (text_equal(variable, text_of(names[i])))
			return true;
	/* The files of secrets (proto/keys/secret.h), and SSL_CERT_FILE. */
	return variable.bytes > 5 &&
	       memcmp(variable.at + variable.bytes - 5, "_FILE", 5) == 0;
}

void
http_sandbox(struct sandbox *sandbox, const struct http_options *options)
{
	sandbox_read_folder_of(sandbox, options->cacert);
	for (char **each = environ; each != NULL && *each != NULL; each++) {
		size_t bytes = strcspn(*each, "=");

		if ((*each)[bytes] == '=' &&
		    names_file((struct text){ *each, (uint32_t)bytes }))
			sandbox_read_folder_of(sandbox, *each + bytes + 1);
	}
}
