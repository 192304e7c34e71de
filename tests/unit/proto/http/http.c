/*
 * http - requests to services, against a service that answers as it is
 * reported.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/http/http_private.h"
#include "proto/http/libcurl.h"
#include "proto/os/clock.h"
#include "proto/service/interrupt.h"

/* ---- a service that answers one connection after another ---- */

enum { SCRIPT_MAX = 8, HEARD_BYTES = 64 << 10 };

static struct {
	int fd;
	char url[64];
	pthread_t thread;
	const char *script[SCRIPT_MAX]; /* the last is repeated */
	uint32_t length;
	atomic_uint asked;
	char heard[HEARD_BYTES]; /* the last request */
} service;

static void
hear(int fd)
{
	size_t bytes = 0;
	ssize_t n;
	char *end = NULL;
	const char *length;

	while (end == NULL && bytes < HEARD_BYTES - 1) {
		n = read(fd, service.heard + bytes, HEARD_BYTES - 1 - bytes);
		if (n <= 0)
			break;
		bytes += (size_t)n;
		service.heard[bytes] = '\0';
		end = strstr(service.heard, "\r\n\r\n");
		length = strstr(service.heard, "Content-Length: ");
		if (end != NULL && length != NULL &&
		    bytes < (size_t)(end + 4 - service.heard) +
				strtoul(length + 16, NULL, 10))
			end = NULL;
	}
	service.heard[bytes] = '\0';
}

static void *
serve(void *arg)
{
	int fd;

	while ((fd = accept(service.fd, NULL, NULL)) >= 0) {
		unsigned asked = atomic_load(&service.asked);
		const char *text =
		    service.script[asked < service.length ? asked
							  : service.length - 1];

		hear(fd);
		atomic_fetch_add(&service.asked, 1);
		if (text != NULL &&
		    send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
			perror("send");
		close(fd);
	}
	return NULL;
}

#define ANSWER(status, more, body)                                             \
	"HTTP/1.1 " status " Words\r\nConnection: close\r\n" more              \
	"Content-Length: " body

/* The answers, of which NULL closes the connection without one. */
static void
start(const char *const *script, uint32_t length)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof(at);

	memcpy(service.script, script, length * sizeof(*script));
	service.length = length;
	atomic_store(&service.asked, 0);
	service.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(
	    bind(service.fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(service.fd, 8), 0);
	getsockname(service.fd, (struct sockaddr *)&at, &bytes);
	snprintf(service.url, sizeof(service.url), "http://127.0.0.1:%u/put",
	    ntohs(at.sin_port));
	assert_int_equal(pthread_create(&service.thread, NULL, serve, NULL), 0);
}

static void
stop(void)
{
	shutdown(service.fd, SHUT_RDWR);
	pthread_join(service.thread, NULL);
	close(service.fd);
}

static struct http *http;
static struct http_options how = HTTP_DEFAULT;
static struct err err;

static int
open_http(void **state)
{
	err.text[0] = '\0';
	how.retry_ns = 20 * NS_PER_SECOND;
	return http_open(&http, &how, &err);
}

static int
close_http(void **state)
{
	http_close(&http);
	return 0;
}

/* What a service that answers so is to the sender. */
static int
send_to(const char *const *script, uint32_t length, struct http_answer *answer)
{
	struct http_request request = { .method = "POST",
		.url = NULL,
		.headers = { "Authorization: Bearer tellnobody", "X-Empty:" },
		.body = text_of("some bytes") };
	int rc;

	start(script, length);
	request.url = service.url;
	rc = http_send(http, &request, answer, &err);
	stop();
	return rc;
}

/* In the place of libcurl's: fails. */
static CURLMcode
fail_to_perform(CURLM *multi, int *running)
{
	return CURLM_INTERNAL_ERROR;
}

/* ---- tests ---- */

static void
test_an_answer_has_status_headers_and_body(void **state)
{
	const char *script[] = { ANSWER(
	    "201", "X-Thing: one\r\nx-thing:  two \r\n", "5\r\n\r\nhello") };
	struct http_answer answer;

	assert_int_equal(send_to(script, 1, &answer), 0);
	assert_int_equal(answer.status, 201);
	assert_true(text_equal(answer.body, text_of("hello")));
	assert_true(text_equal(http_header(http, "X-THING"), text_of("two")));
	assert_int_equal(http_header(http, "X-Thin").bytes, 0);
	assert_non_null(strstr(service.heard, "POST /put HTTP/1.1\r\n"));
	assert_non_null(strstr(service.heard, "\r\n\r\nsome bytes"));
	assert_non_null(strstr(service.heard, "User-Agent: poolscope/"));
	assert_non_null(strstr(service.heard, "\r\nX-Empty:\r\n"));
	assert_null(strstr(service.heard, "Expect"));
	assert_null(strstr(service.heard, "Content-Type"));
}

static void
test_what_may_work_later_is_tried_again(void **state)
{
	const char *script[] = { ANSWER("500", "", "2\r\n\r\nno"),
		ANSWER("429", "Retry-After: 0\r\n", "0\r\n\r\n"),
		ANSWER("200", "", "100\r\n\r\nhalf of it"), NULL,
		"HTTP/1.1 200 OK\r\nServ", ANSWER("200", "", "4\r\n\r\ndone") };
	struct http_answer answer;

	assert_int_equal(send_to(script, 6, &answer), 0);
	assert_int_equal(answer.status, 200);
	assert_true(text_equal(answer.body, text_of("done")));
	assert_int_equal(atomic_load(&service.asked), 6);
}

static int
count_on(void *arg, struct err *why)
{
	char *header = arg; /* "X-Try: 0" */

	if (++header[7] <= '3')
		return 0;
	header[7] = 'x';
	return err_set(why, "the ink is gone");
}

static int
send_signed(const char *const *script, uint32_t length, char *header)
{
	struct http_request request = { .method = "PUT",
		.headers = { header },
		.sign = count_on,
		.sign_arg = header };
	struct http_answer answer;
	int rc;

	start(script, length);
	request.url = service.url;
	rc = http_send(http, &request, &answer, &err);
	stop();
	return rc;
}

static void
test_each_attempt_is_signed_anew(void **state)
{
	const char *script[] = { NULL, ANSWER("500", "", "2\r\n\r\nno"),
		ANSWER("200", "", "0\r\n\r\n") };
	char header[] = "X-Try: 0";

	assert_int_equal(send_signed(script, 3, header), 0);
	assert_int_equal(atomic_load(&service.asked), 3);
	assert_non_null(strstr(service.heard, "\r\nX-Try: 3\r\n"));
	assert_null(strstr(service.heard, "X-Try: 2"));
}

static void
test_what_cannot_be_signed_is_not_sent(void **state)
{
	const char *script[] = { ANSWER("500", "", "2\r\n\r\nno") };
	char header[] = "X-Try: 1", spoilt[] = "X-Try: 3";

	assert_int_equal(send_signed(script, 1, spoilt), -1);
	assert_int_equal(atomic_load(&service.asked), 0);
	assert_string_equal(err.text, "the ink is gone");
	assert_int_equal(send_signed(script, 1, header), -1);
	assert_int_equal(atomic_load(&service.asked), 2);
	assert_string_equal(err.text, "the ink is gone");
}

static void
test_an_outage_can_be_waited_out(void **state)
{
	const char *script[] = { NULL, NULL, NULL,
		ANSWER("200", "", "4\r\n\r\ndone") };
	struct http_answer answer;

	how.retry_ns = 1000000;
	assert_int_equal(send_to(script, 4, &answer), -1);
	how.wait_out = true;
	assert_int_equal(send_to(script, 4, &answer), 0);
	assert_int_equal(atomic_load(&service.asked), 4);
}

static void
test_an_address_that_is_written_out_needs_no_lookup(void **state)
{
	static const char *const bad[] = { "http://169.254.169.254/x",
		"http://169.254.169.254.:80", "http://0xa9fea9fe/",
		"http://2852039166?x", "https://[fe80::1%25eth0]:1/",
		"http://[::ffff:169.254.169.254]/", "http://168.63.129.16#x",
		"http://%3169.254.169.254/" };
	static const char *const good[] = { "http://127.0.0.1:1/",
		"http://[::1]", "http://10.0.0.1/169.254.169.254",
		"http://example.com/", "http://169.254.169.254.example.com/" };
	struct http_request request = { .method = "GET" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		request.url = bad[i];
		if (http_check(&request, &err) == 0)
			fail_msg("%s", bad[i]);
		assert_non_null(strstr(err.text, "the request was not sent"));
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		request.url = good[i];
		if (http_check(&request, &err) != 0)
			fail_msg("%s", err.text);
	}
}

static void
test_an_address_without_a_host_is_none(void **state)
{
	static const char *const bad[] = { "http://", "http:///x",
		"https://:80", "http://?x", "ftp://host/", "127.0.0.1:1",
		"http://a@b/", "http://@b/", "http://:@b/", "http://a b/",
		"http://a\nb/", "http://h:99999/", "http://[::1/",
		"http://a:b@c@d/" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (http_check_url(bad[i], &err) == 0)
			fail_msg("%s", bad[i]);
	assert_int_equal(http_check_url("http://host", &err), 0);
}

static void
test_this_machine_is_known_by_the_host_alone(void **state)
{
	static const char *const here[] = { "http://127.0.0.1:8086/write",
		"http://127.255.0.9", "http://LocalHost:80/",
		"http://[::1]:1/x", "http://localhost./" };
	static const char *const away[] = { "http://example.com/?u=://127.",
		"http://example.com/://localhost", "http://127.example.com/",
		"http://localhost.example.com/", "http://[::2]/",
		"http://128.0.0.1/", "http:///127.0.0.1", "://127.0.0.1" };

	for (size_t i = 0; i < sizeof(here) / sizeof(*here); i++)
		if (!http_is_here(here[i]))
			fail_msg("%s", here[i]);
	for (size_t i = 0; i < sizeof(away) / sizeof(*away); i++)
		if (http_is_here(away[i]))
			fail_msg("%s", away[i]);
}

/* Ours, taken apart as it is sent: what judges and signs has nothing else. */
static void
test_an_address_has_the_parts_that_are_sent(void **state)
{
	struct http_address a;

	assert_int_equal(http_address_open(&a,
			     "http://H.example:80/a/../b%2Fc?x=%20&y#z", &err),
	    0);
	assert_string_equal(a.scheme, "http");
	assert_null(a.port);
	assert_string_equal(a.path, "/a/../b%2Fc");
	assert_string_equal(a.query, "x=%20&y");
	http_address_close(&a);
	assert_int_equal(http_address_open(&a, "https://h:80?x", &err), 0);
	assert_string_equal(a.host, "h");
	assert_string_equal(a.port, "80");
	assert_string_equal(a.path, "/");
	http_address_close(&a);
	/* Ways to write an address that libc's resolver takes. */
	assert_int_equal(http_address_open(&a, "http://0x7f.1/", &err), 0);
	assert_string_equal(a.host, "127.0.0.1");
	http_address_close(&a);
}

static void
test_what_is_the_callers_fault_is_not(void **state)
{
	const char *script[] = { ANSWER("404", "", "8\r\n\r\nno\nthing") };
	struct http_answer answer;

	assert_int_equal(send_to(script, 1, &answer), 0);
	assert_int_equal(answer.status, 404);
	assert_int_equal(atomic_load(&service.asked), 1);
	assert_int_equal(http_refused(http, &answer, &err), -1);
	assert_non_null(strstr(err.text, "/put answers 404: no thing"));
}

/* A name may resolve to any address: it is looked at when it is known. */
static void
test_a_client_of_this_host_goes_nowhere_else(void **state)
{
	const char *script[] = { ANSWER("200", "", "2\r\n\r\nok") };
	struct http_options here = { .once = true, .here = true };
	struct http_request request = { .method = "GET",
		.url = "http://10.255.255.1:9/" };
	struct http_answer answer;
	struct http *other;

	assert_int_equal(http_open(&other, &here, &err), 0);
	assert_int_equal(http_send(other, &request, &answer, &err), -1);
	assert_non_null(
	    strstr(err.text, "is not of this host; the request was not sent"));
	start(script, 1);
	request.url = service.url;
	assert_int_equal(http_send(other, &request, &answer, &err), 0);
	assert_int_equal(answer.status, 200);
	stop();
	http_close(&other);
}

/* A service that never answers. */
static void
test_a_request_ends_when_its_time_is_over(void **state)
{
	const struct sockaddr_un at = { .sun_family = AF_UNIX,
		.sun_path = "/tmp/http_unit_silent.sock" };
	struct http_options once = { .once = true,
		.once_ns = NS_PER_SECOND / 2,
		.here = true,
		.socket = at.sun_path };
	struct http_request request = { .method = "GET",
		.url = "http://localhost/metrics" };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int64_t begin_ns = clock_monotonic_ns();
	struct http_answer answer;
	struct http *other;

	unlink(at.sun_path);
	assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(http_open(&other, &once, &err), 0);
	assert_int_equal(http_send(other, &request, &answer, &err), -1);
	/* libcurl counts whole milliseconds. */
	assert_in_range(clock_monotonic_ns() - begin_ns,
	    NS_PER_SECOND / 2 - NS_PER_SECOND / 1000, 10 * NS_PER_SECOND);
	http_close(&other);
	close(fd);
	unlink(at.sun_path);
}

static void
test_a_redirect_is_an_answer(void **state)
{
	const char *script[] = { ANSWER("307",
	    "Location: http://u:pass@169.254.169.254/x?sig=secret\r\n",
	    "0\r\n\r\n") };
	struct http_answer answer;

	assert_int_equal(send_to(script, 1, &answer), 0);
	assert_int_equal(answer.status, 307);
	assert_int_equal(atomic_load(&service.asked), 1);
	http_refused(http, &answer, &err);
	assert_non_null(strstr(err.text, "http://169.254.169.254/x,"));
	assert_null(strstr(err.text, "secret"));
	assert_null(strstr(err.text, "pass"));
}

static void
test_retries_end_and_the_last_error_is_reported(void **state)
{
	const char *script[] = { ANSWER("503", "", "9\r\n\r\noverworked") };
	struct http_answer answer;

	how.retry_ns = 100000000;
	assert_int_equal(send_to(script, 1, &answer), -1);
	assert_non_null(strstr(err.text, "gave up after"));
	assert_non_null(strstr(err.text, "answers 503: overworke"));
	assert_true(atomic_load(&service.asked) >= 2);
}

static void
test_a_pause_is_no_longer_than_patience(void **state)
{
	const char *script[] = { ANSWER(
	    "429", "Retry-After: 86400\r\n", "0\r\n\r\n") };
	struct http_answer answer;

	how.retry_ns = 50000000;
	assert_int_equal(send_to(script, 1, &answer), -1);
	assert_int_equal(atomic_load(&service.asked), 2);
}

static void
test_what_is_not_http_is_reported_at_once(void **state)
{
	const char *script[] = { "SSH-2.0-OpenSSH_9.2\r\n" };
	struct http_answer answer;

	assert_int_equal(send_to(script, 1, &answer), -1);
	assert_non_null(strstr(err.text, "is not HTTP/1"));
	assert_int_equal(atomic_load(&service.asked), 1);
}

static void
test_an_answer_has_a_bound(void **state)
{
	static char large[HTTP_ANSWER_BYTES_MAX + 200];
	const char *script[] = { large };
	struct http_answer answer;
	int n = snprintf(large, sizeof(large), ANSWER("200", "", "%u\r\n\r\n"),
	    (unsigned)HTTP_ANSWER_BYTES_MAX + 1);

	memset(large + n, 'x', HTTP_ANSWER_BYTES_MAX + 1);
	assert_int_equal(send_to(script, 1, &answer), -1);
	assert_non_null(strstr(err.text, "larger than 8 MiB"));
	assert_int_equal(atomic_load(&service.asked), 1);
	n = snprintf(large, sizeof(large), "HTTP/1.1 200 OK\r\n");
	while (n < 70 << 10)
		n += snprintf(large + n, 100, "Name: a value like many\r\n");
	assert_int_equal(send_to(script, 1, &answer), -1);
	assert_non_null(strstr(err.text, "larger than 64 KiB"));
}

static void
test_a_secret_that_is_reported_back_is_not_passed_on(void **state)
{
	const char *script[] = { ANSWER(
	    "403", "", "33\r\n\r\nwrong token Bearer tellnobody, go") };
	struct http_answer answer;

	assert_int_equal(send_to(script, 1, &answer), 0);
	http_refused(http, &answer, &err);
	assert_non_null(strstr(err.text, "403: wrong token ***, go"));
}

static void
test_short_passwords_of_the_address_are_not_passed_on(void **state)
{
	struct http_request request = { .method = "GET",
		.url = "http://h/?u=visitor&P=hushhush&db=pool&x-api-key=abcdef"
		       "&note=a-rather-long-one" };
	char printed[HTTP_EXCERPT_BYTES];

	http_excerpt(printed,
	    text_of("hushhush visitor abcdef a-rather-long-one"), &request);
	assert_string_equal(printed, "*** visitor *** ***");
}

static void
test_blanks_of_an_answer_are_one_and_none_at_its_ends(void **state)
{
	const struct http_request request = { .url = "http://h/" };
	char printed[HTTP_EXCERPT_BYTES];

	http_excerpt(printed, text_of("\r\n \n\t  not\n\n found \n"), &request);
	assert_string_equal(printed, "not found");
	http_excerpt(printed, text_of(" \n "), &request);
	assert_string_equal(printed, "");
}

static void
test_a_request_is_shown_without_secrets(void **state)
{
	struct http_request request = { .method = "POST",
		.url =
		    "http://h/write?db=pool&p=x&P=y&sig=s1&Password=s2&apiKey="
		    "s3&X-Amz-Credential=s4&code=s5&auth_token=s6&page=7&"
		    "spare&",
		.headers = { "X-Token: s8", "Accept: any" } };
	FILE *out = stdout;
	char *shown = NULL;
	size_t bytes;

	stdout = open_memstream(&shown, &bytes);
	http_show(&request);
	fclose(stdout);
	stdout = out;
	assert_string_equal(shown,
	    "POST http://h/write?db=pool&p=***&P=***&sig=***&Password=***&"
	    "apiKey=***&X-Amz-Credential=***&code=***&auth_token=***&page=7&"
	    "spare&\nX-Token: ***\nAccept: any\n\n");
	free(shown);
}

static void
test_a_failure_of_libcurl_is_no_interruption(void **state)
{
	const char *script[] = { ANSWER("200", "", "0\r\n\r\n") };
	struct http_answer answer;
	__typeof__(libcurl.multi_perform) real;
	int rc;

	real = libcurl.multi_perform;
	libcurl.multi_perform = fail_to_perform;
	rc = send_to(script, 1, &answer);
	libcurl.multi_perform = real;
	assert_int_equal(rc, -1);
	assert_null(strstr(err.text, "interrupted"));
	assert_non_null(strstr(err.text, "libcurl: "));
}

static void
check_refused(const char *url, const char *header, const char *words)
{
	struct http_request request = {
		.method = "GET", .url = url, .headers = { header }
	};
	struct http_answer answer;

	assert_int_equal(http_send(http, &request, &answer, &err), -1);
	if (strstr(err.text, words) == NULL)
		fail_msg("%s: %s", url, err.text);
	assert_null(strstr(err.text, "tellnobody"));
}

static void
test_refused_addresses_are_never_contacted(void **state)
{
	check_refused("http://169.254.169.254/latest?t=tellnobody", NULL,
	    "is link-local");
	check_refused("http://[::ffff:169.254.169.254]/", NULL, "link-local");
	check_refused("http://[fe80::1]/", NULL, "is link-local");
	check_refused("http://[fd00:ec2::254]/", NULL, "metadata");
	check_refused("https://168.63.129.16/", NULL, "metadata");
	check_refused("http://100.100.100.200/", NULL, "metadata");
	check_refused("http://192.0.0.192/opc/v2/", NULL, "metadata");
	check_refused("http://[::ffff:192.0.0.192]/", NULL, "metadata");
	check_refused("http://[64:ff9b::192.0.0.192]/", NULL, "metadata");
	check_refused("http://[64:ff9b:1::168.63.129.16]/", NULL, "metadata");
	check_refused("http://[::ffff:0:169.254.169.254]/", NULL, "link-local");
	check_refused("http://[2002:a9fe:a9fe::1]/", NULL, "link-local");
	check_refused("http://[fd00:ec2::23]/", NULL, "metadata");
	check_refused("http://[fd20:ce::254]/", NULL, "metadata");
	check_refused("http://[fd00:c1::a9fe:a9fe]/", NULL, "metadata");
	check_refused("http://[fd00:42::42]/", NULL, "metadata");
	check_refused("http://[fd00:a9fe:a9fe::1]/", NULL, "metadata");
	check_refused("http://2852039166/", NULL, "link-local");
	check_refused("http://0.0.0.0/", NULL, "not a host");
	check_refused("http://224.0.0.1/", NULL, "multicast");
	check_refused("http://u:tellnobody@127.0.0.1/", NULL, "a password");
	check_refused("ftp://127.0.0.1/", NULL, "does not begin with http://");
	check_refused(
	    "file:///etc/passwd", NULL, "does not begin with http://");
	check_refused("http://127.0.0.1/ x", NULL, "blank");
	check_refused("http://127.0.0.1/", "A: tellnobody\r\nB: c",
	    "control character in the header A");
}

static void *
end_soon(void *arg)
{
	while (atomic_load(&service.asked) == 0)
		usleep(1000);
	kill(getpid(), SIGTERM);
	return NULL;
}

static void
test_a_signal_ends_a_retry_pause(void **state)
{
	const char *script[] = { ANSWER(
	    "429", "Retry-After: 3600\r\n", "0\r\n\r\n") };
	struct http_answer answer;
	struct timespec none = { 0, 0 };
	pthread_t thread;
	sigset_t set;

	how.retry_ns = 3600 * NS_PER_SECOND;
	interrupt_hold();
	atomic_store(&service.asked, 0);
	pthread_create(&thread, NULL, end_soon, NULL);
	assert_int_equal(send_to(script, 1, &answer), -1);
	pthread_join(thread, NULL);
	assert_non_null(strstr(err.text, "interrupted"));
	assert_true(interrupt_is_pending());
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	assert_int_equal(sigtimedwait(&set, NULL, &none), SIGTERM);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void
test_a_connection_is_kept_for_the_next_request(void **state)
{
	/* The second answer comes on the first connection, or never. */
	const char *script[] = {
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	};
	struct http_answer answer;

	assert_int_equal(send_to(script, 1, &answer), 0);
	/* It was closed, though: that is noticed, and no failure. */
	assert_int_equal(send_to(script, 1, &answer), 0);
}

/* What the pause is after an answer with this Retry-After; NULL: with none. */
static int64_t
retry_seconds(const char *value)
{
	char text[200];
	const char *script[] = { text };
	struct http_answer answer;

	if (value == NULL)
		snprintf(text, sizeof(text), ANSWER("503", "", "0\r\n\r\n"));
	else
		snprintf(text, sizeof(text),
		    ANSWER("503", "Retry-After: %s\r\n", "0\r\n\r\n"), value);
	how.retry_ns = 1000000;
	assert_int_equal(send_to(script, 1, &answer), -1);
	return http_retry_ns(http) / NS_PER_SECOND;
}

static void
test_retry_after_is_seconds_or_a_date(void **state)
{
	static const char *const none[] = { "0", "", "-1", "soon",
		"Sun, 22 Nov 1998 07:00:00 GMT",
		"Mon, 01 Jan 0001 00:00:00 GMT" };
	char date[64];
	time_t then = time(NULL) + 90;
	struct tm tm;
	int64_t seconds;

	assert_int_equal(retry_seconds("120"), 120);
	assert_int_equal(retry_seconds(" 7 "), 7);
	/* What the answer before announced is over. */
	assert_int_equal(retry_seconds(NULL), 0);
	strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT",
	    gmtime_r(&then, &tm));
	seconds = retry_seconds(date);
	assert_true(seconds >= 60 && seconds <= 90);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		if (retry_seconds(none[i]) != 0)
			fail_msg("'%s'", none[i]);
	assert_true(retry_seconds("99999999999999999999999") >= 0);
}

static void
test_a_place_has_no_user_and_no_query(void **state)
{
	static const char *const cases[][2] = {
		{ "https://host:81/a/b?sig=x#y", "https://host:81/a/b" },
		/* No scheme: nothing of a query, nothing of a password. */
		{ "81/a?sig=secret,https://me:word@host/b", "81/a" },
		{ "ht!tp://me:word@host/b?sig=x", "host/b" },
		{ "http://me:word@host/a@b", "http://host/a@b" },
		{ "http://host?x=/@", "http://host" },
		{ "http://a@b@[::1]:8/", "http://[::1]:8/" },
		{ "nothing", "nothing" },
	};
	char place[HTTP_DISPLAY_URL_BYTES];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(
		    http_display_url(place, cases[i][0]), cases[i][1]);
}

static void
test_text_is_encoded_for_an_address(void **state)
{
	char to[16];

	assert_int_equal(
	    http_encode(to, sizeof(to), text_of("a b/\xc3\xa4~"), "/"), 13);
	assert_string_equal(to, "a%20b/%C3%A4~");
	assert_int_equal(http_encode(to, 4, text_of("%"), ""), 3);
	assert_string_equal(to, "%25");
	assert_int_equal(http_encode(to, 3, text_of("%"), ""), 0);
}

int
main(void)
{
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(test_##name, open_http, close_http)
	const struct CMUnitTest tests[] = {
		TEST(an_answer_has_status_headers_and_body),
		TEST(what_may_work_later_is_tried_again),
		TEST(each_attempt_is_signed_anew),
		TEST(what_cannot_be_signed_is_not_sent),
		TEST(an_address_has_the_parts_that_are_sent),
		TEST(this_machine_is_known_by_the_host_alone),
		TEST(what_is_the_callers_fault_is_not),
		TEST(a_client_of_this_host_goes_nowhere_else),
		TEST(a_request_ends_when_its_time_is_over),
		TEST(a_redirect_is_an_answer),
		TEST(retries_end_and_the_last_error_is_reported),
		TEST(a_pause_is_no_longer_than_patience),
		TEST(what_is_not_http_is_reported_at_once),
		TEST(an_answer_has_a_bound),
		TEST(a_secret_that_is_reported_back_is_not_passed_on),
		TEST(a_failure_of_libcurl_is_no_interruption),
		TEST(refused_addresses_are_never_contacted),
		TEST(a_signal_ends_a_retry_pause),
		TEST(a_connection_is_kept_for_the_next_request),
		cmocka_unit_test(
		    test_short_passwords_of_the_address_are_not_passed_on),
		cmocka_unit_test(
		    test_blanks_of_an_answer_are_one_and_none_at_its_ends),
		cmocka_unit_test(test_a_request_is_shown_without_secrets),
		TEST(an_address_that_is_written_out_needs_no_lookup),
		TEST(an_address_without_a_host_is_none),
		TEST(retry_after_is_seconds_or_a_date),
		TEST(an_outage_can_be_waited_out), /* for good: the last */
		cmocka_unit_test(test_a_place_has_no_user_and_no_query),
		cmocka_unit_test(test_text_is_encoded_for_an_address),
	};

	/* The service is here, whatever the environment says. */
	setenv("no_proxy", "*", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
