/*
 * memory - tests of proto/base/memory.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/memory.h"

/* What a child writes to stderr before it ends by SIGABRT. */
static void
last_words(void (*child)(void), char *to, size_t room)
{
	int pipes[2], status;
	size_t bytes = 0;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		const struct rlimit none = { 0, 0 };

		signal(SIGABRT, SIG_DFL);
		setrlimit(RLIMIT_CORE, &none);
		dup2(pipes[1], STDERR_FILENO);
		child();
		_exit(0);
	}
	close(pipes[1]);
	while ((got = read(pipes[0], to + bytes, room - 1 - bytes)) > 0)
		bytes += (size_t)got;
	to[bytes] = '\0';
	close(pipes[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

/* More than any machine has, less than a compiler warns of. */
static volatile size_t too_much = (size_t)1 << 62;

static void
ask_for_too_much(void)
{
	free(memory_alloc(too_much));
}

static void
ask_for_too_many(void)
{
	free(memory_resize_array(NULL, too_much, 16));
}

static void
grow_to_too_many(void)
{
	uint32_t room = 0;

	free(memory_grow(NULL, &room, UINT32_MAX, 1));
}

static void
without_memory_one_sentence_is_written_and_the_process_ends(void **state)
{
	char text[256];

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip(); /* the sanitizer ends the process itself */
#endif
	last_words(ask_for_too_much, text, sizeof(text));
	assert_string_equal(text,
	    "memory: out of memory: cannot allocate 4611686018427387904 "
	    "bytes; aborting\n");
}

static void
a_product_that_overflows_is_no_small_allocation(void **state)
{
	char text[256];

	last_words(ask_for_too_many, text, sizeof(text));
	assert_string_equal(text, "memory: out of memory; aborting\n");
	last_words(grow_to_too_many, text, sizeof(text));
	assert_string_equal(text, "memory: out of memory; aborting\n");
}

static void
no_bytes_are_a_pointer_too(void **state)
{
	void *at[] = { memory_alloc(0), memory_zero(0, 8), memory_zero(8, 0),
		memory_resize(NULL, 0), memory_resize_array(NULL, 0, 8),
		memory_copy(NULL, 0) };

	for (unsigned i = 0; i < sizeof(at) / sizeof(*at); i++) {
		assert_non_null(at[i]);
		free(at[i]);
	}
}

static void
an_array_grows_to_twice_the_item_and_sixteen(void **state)
{
	uint32_t room = 0, *at = NULL;

	MEMORY_GROW_ZERO(at, room, 0);
	assert_int_equal(room, 16);
	for (uint32_t i = 0; i < 16; i++) {
		assert_int_equal(at[i], 0);
		at[i] = i + 1;
	}
	assert_ptr_equal(memory_grow_zero(at, &room, 15, sizeof(*at)), at);
	assert_int_equal(room, 16);
	MEMORY_GROW_ZERO(at, room, 16);
	assert_int_equal(room, 48);
	for (uint32_t i = 0; i < 48; i++)
		assert_int_equal(at[i], i < 16 ? i + 1 : 0);
	free(at);
}

static void
copies_hold_the_same_bytes(void **state)
{
	const struct text part = { "abcdef", 3 };
	char *string = memory_string("a\xc3\xa4");
	char *cut = memory_text(part);
	char *none = memory_text((struct text){ NULL, 0 });
	char *formatted = memory_format("%s-%d", "x", 7);
	char *bytes = memory_copy("a\0b", 3);

	assert_string_equal(string, "a\xc3\xa4");
	assert_string_equal(cut, "abc");
	assert_string_equal(none, "");
	assert_string_equal(formatted, "x-7");
	assert_memory_equal(bytes, "a\0b", 3);
	free(string);
	free(cut);
	free(none);
	free(formatted);
	free(bytes);
}

static void
a_stream_leaves_what_was_written(void **state)
{
	size_t bytes = 0;
	char *at = NULL;
	FILE *stream = memory_stream(&at, &bytes);

	fputs("one ", stream);
	fputs("two", stream);
	memory_stream_end(&stream);
	assert_null(stream);
	assert_int_equal(bytes, 7);
	assert_string_equal(at, "one two");
	free(at);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    without_memory_one_sentence_is_written_and_the_process_ends),
		cmocka_unit_test(
		    a_product_that_overflows_is_no_small_allocation),
		cmocka_unit_test(no_bytes_are_a_pointer_too),
		cmocka_unit_test(an_array_grows_to_twice_the_item_and_sixteen),
		cmocka_unit_test(copies_hold_the_same_bytes),
		cmocka_unit_test(a_stream_leaves_what_was_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
