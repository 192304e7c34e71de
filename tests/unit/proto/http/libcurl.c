/*
 * Tests of proto/http/libcurl.h: when the library is loaded, and the message
 * where it cannot be.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/http/http.h"
#include "proto/http/libcurl.h"
#include "proto/service/sandbox.h"

/* What this program does when it is executed once more: opens a handle, and
 * leaves the sentence in the file that the environment names. */
#define ANSWER "LIBCURL_TEST_ANSWER"

static bool
is_mapped(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	bool found = false;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps) != NULL)
		found = found || strstr(line, "/libcurl.so") != NULL;
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
load_for_an_address(void)
{
	struct err err = { 0 };

	if (is_mapped() || http_check_url("ftp://h/", &err) == 0 || is_mapped())
		return 1;
	if (http_check_url("http://h/", &err) != 0 || !is_mapped())
		return 2;
	return libcurl_load(&err) == 0 ? 0 : 3;
}

static int
load_for_a_handle(void)
{
	static const struct http_options how = HTTP_DEFAULT;
	struct err err = { 0 };
	struct http *http;

	if (is_mapped() || http_open(&http, &how, &err) != 0 || !is_mapped())
		return 1;
	http_close(&http);
	return 0;
}

static void
it_is_loaded_when_it_is_wanted_and_not_before(void **state)
{
	(void)state;
	in_child(load_for_an_address);
	in_child(load_for_a_handle);
}

static int
load_within(void)
{
	struct sandbox sandbox;
	struct err err = { 0 };

	sandbox_begin(&sandbox);
	sandbox_close(&sandbox, false);
	return libcurl_load(&err) == 0 ? 0 : 1;
}

static void
a_sandbox_does_not_keep_it_out(void **state)
{
	(void)state;
	in_child(load_within);
}

static void
execute_where(const char *dir, const char *answer)
{
	char *argv[] = { (char *)(uintptr_t) "libcurl", NULL };

	setenv("LD_LIBRARY_PATH", dir, 1);
	setenv(ANSWER, answer, 1);
	execv("/proc/self/exe", argv);
	_exit(1);
}

static void
one_that_cannot_be_loaded_is_reported_in_one_sentence(void **state)
{
	char dir[] = "/tmp/poolscope.XXXXXX", library[64], answer[64];
	char printed[ERR_BYTES] = "";
	FILE *file;
	const char *variant = getenv("VARIANT");
	pid_t child;
	int status;

	(void)state;
	/* Under valgrind /proc/self/exe is valgrind, which cannot start so. */
	if (variant != NULL && strcmp(variant, "valgrind") == 0)
		skip();
	assert_non_null(mkdtemp(dir));
	snprintf(library, sizeof(library), "%s/libcurl.so.4", dir);
	snprintf(answer, sizeof(answer), "%s/answer", dir);
	file = fopen(library, "we");
	assert_non_null(file);
	fputs("not a library", file);
	fclose(file);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		execute_where(dir, answer);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	file = fopen(answer, "re");
	assert_non_null(file);
	assert_non_null(fgets(printed, sizeof(printed), file));
	fclose(file);
	assert_int_equal(strncmp(printed,
			     "cannot load libcurl, which every request by "
			     "HTTP needs (Debian package libcurl4): ",
			     82),
	    0);
	assert_null(strchr(printed, '\n'));
	unlink(library);
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

	if (file == NULL || http_is_here("http://localhost/") ||
	    http_open(&http, &how, &err) == 0)
		return 1;
	fputs(err.text, file);
	return fclose(file) == 0 ? 0 : 1;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_loaded_when_it_is_wanted_and_not_before),
		cmocka_unit_test(a_sandbox_does_not_keep_it_out),
		cmocka_unit_test(
		    one_that_cannot_be_loaded_is_reported_in_one_sentence),
	};

	if (getenv(ANSWER) != NULL)
		return answer_to(getenv(ANSWER));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
