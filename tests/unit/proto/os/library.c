/*
 * Tests of proto/os/library.h by the two libraries that it loads: when, and the
 * message where it cannot.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/http/http.h"
#include "proto/http/libcurl.h"
#include "proto/net/libzmq.h"
#include "proto/service/sandbox.h"

/* What this program does when it is executed once more: loads both, and leaves
 * the sentences in the file that the environment names. */
#define ANSWER "LIBRARY_TEST_ANSWER"

static bool
is_mapped(const char *library)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	bool found = false;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps) != NULL)
		found = found || strstr(line, library) != NULL;
	fclose(maps);
	return found;
}

static void
in_child(int (*body)(void))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0)
		_exit(body());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static int
load_libzmq_twice(void)
{
	struct err err = { 0 };
	void *context;

	if (is_mapped("/libzmq.so"))
		return 1;
	if (libzmq_load(&err) != 0 || libzmq_load(&err) != 0 ||
	    !is_mapped("/libzmq.so"))
		return 2;
	context = libzmq.ctx_new();
	if (context == NULL || libzmq.ctx_term(context) != 0)
		return 3;
	return libzmq.socket(NULL, ZMQ_DEALER) == NULL && errno == EFAULT ? 0
									  : 4;
}

static int
load_libcurl_for_an_address(void)
{
	struct err err = { 0 };

	if (is_mapped("/libcurl.so") || http_check_url("ftp://h/", &err) == 0 ||
	    is_mapped("/libcurl.so"))
		return 1;
	if (http_check_url("http://h/", &err) != 0 || !is_mapped("/libcurl.so"))
		return 2;
	return libcurl_load(&err) == 0 ? 0 : 3;
}

static int
load_libcurl_for_a_handle(void)
{
	static const struct http_options how = HTTP_DEFAULT;
	struct err err = { 0 };
	struct http *http;

	if (is_mapped("/libcurl.so") || http_open(&http, &how, &err) != 0 ||
	    !is_mapped("/libcurl.so"))
		return 1;
	http_close(&http);
	return 0;
}

static void
one_is_loaded_when_it_is_wanted_and_not_before(void **state)
{
	in_child(load_libzmq_twice);
	in_child(load_libcurl_for_an_address);
	in_child(load_libcurl_for_a_handle);
}

static int
load_within(void)
{
	struct sandbox sandbox;
	struct err err = { 0 };

	sandbox_begin(&sandbox);
	sandbox_close(&sandbox, false);
	return libzmq_load(&err) == 0 && libcurl_load(&err) == 0 ? 0 : 1;
}

static int
load_before(void)
{
	struct sandbox sandbox;

	sandbox_begin(&sandbox);
	sandbox_sockets();
	sandbox_close(&sandbox, false);
	return is_mapped("/libzmq.so") ? 0 : 1;
}

static void
a_sandbox_closes_after_them_and_does_not_keep_them_out(void **state)
{
	in_child(load_before);
	in_child(load_within);
}

static void
execute_where(const char *dir, const char *answer)
{
	char *argv[] = { (char *)(uintptr_t) "library", NULL };

	setenv("LD_LIBRARY_PATH", dir, 1);
	setenv(ANSWER, answer, 1);
	execv("/proc/self/exe", argv);
	_exit(1);
}

static void
put_file(const char *path)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fputs("not a library", file);
	fclose(file);
}

static void
one_that_cannot_be_loaded_is_reported_in_one_sentence(void **state)
{
	static const char *const expected[] = {
		"cannot load libzmq, which every endpoint needs "
		"(Debian package libzmq5): ",
		"cannot load libcurl, which every request by HTTP needs "
		"(Debian package libcurl4): ",
	};
	char dir[] = "/tmp/poolscope.XXXXXX", zmq[64], curl[64], answer[64];
	FILE *file;
	const char *variant = getenv("VARIANT");
	pid_t child;
	int status;

	/* Under valgrind /proc/self/exe is valgrind, which cannot start so. */
	if (variant != NULL && strcmp(variant, "valgrind") == 0)
		skip();
	assert_non_null(mkdtemp(dir));
	snprintf(zmq, sizeof(zmq), "%s/libzmq.so.5", dir);
	snprintf(curl, sizeof(curl), "%s/libcurl.so.4", dir);
	snprintf(answer, sizeof(answer), "%s/answer", dir);
	put_file(zmq);
	put_file(curl);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		execute_where(dir, answer);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	file = fopen(answer, "re");
	assert_non_null(file);
	for (int i = 0; i < 2; i++) {
		char printed[ERR_BYTES + 1] = "";

		assert_non_null(fgets(printed, sizeof(printed), file));
		assert_int_equal(
		    strncmp(printed, expected[i], strlen(expected[i])), 0);
	}
	assert_int_equal(fgetc(file), EOF);
	fclose(file);
	unlink(zmq);
	unlink(curl);
	unlink(answer);
	rmdir(dir);
}

static int
answer_to(const char *path)
{
	static const struct http_options how = HTTP_DEFAULT;
	struct err err = { 0 };
	struct http *http;
	FILE *file = fopen(path, "we");

	if (file == NULL || libzmq_load(&err) == 0)
		return 1;
	fprintf(file, "%s\n", err.text);
	if (http_is_here("http://localhost/") ||
	    http_open(&http, &how, &err) == 0)
		return 1;
	fprintf(file, "%s\n", err.text);
	return fclose(file) == 0 ? 0 : 1;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    one_is_loaded_when_it_is_wanted_and_not_before),
		cmocka_unit_test(
		    a_sandbox_closes_after_them_and_does_not_keep_them_out),
		cmocka_unit_test(
		    one_that_cannot_be_loaded_is_reported_in_one_sentence),
	};

	if (getenv(ANSWER) != NULL)
		return answer_to(getenv(ANSWER));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
