/*
 * argv - any words as a command line: values that their types allow, or one
 * line that says what is wrong and status 2.
 *
 * Words end with NUL.  exit() is wrapped (Makefile): it comes back here.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proto/base/text.h"
#include "proto/config/opt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void __wrap_exit(int status) __attribute__((noreturn));
void __real_exit(int status) __attribute__((noreturn));
/* What a command line took, and its configuration, stays for the life of a
 * process: here there are many lives in one. */
__attribute__((weak)) void __lsan_disable(void);
__attribute__((weak)) void __lsan_enable(void);

enum { WORDS_MAX = 48, SAID_BYTES = 1 << 16, ANSWER = 3 };

static struct {
	bool flag;
	const char *text;
	struct opt_list list;
	uint64_t count, bytes;
	int64_t duration_ns, time_ns;
	int answer;
} values;

static const struct opt options[] = {
	{ "flag", 'f', OPT_FLAG, .to = &values.flag, NULL, "a flag" },
	{ "text", 't', OPT_TEXT, .to = &values.text, "TEXT", "a text" },
	{ "list", 'l', OPT_LIST, .to = &values.list, "TEXT", "a list" },
	{ "count", 'c', OPT_COUNT, .to = &values.count, "N", "a count" },
	{ "bytes", 0, OPT_BYTES, .to = &values.bytes, "BYTES", "a size",
	    .flags = OPT_RELOAD },
	{ "duration", 0, OPT_DURATION, .to = &values.duration_ns, "DURATION",
	    "how long", .flags = OPT_COMMAND },
	{ "time", 0, OPT_TIME, .to = &values.time_ns, "TIME", "when" },
	{ "answer", 'a', OPT_CHOICE, .to = &values.answer, "WORD", "an answer",
	    "yes|no|perhaps" },
	{ .name = NULL },
};
static const struct opt_table tables[] = { { options, NULL },
	{ opt_common, NULL }, { NULL, NULL } };
static const struct opt_program program = {
	.name = "poolscope-emit", /* one that the configuration knows */
	.synopsis = "[options] WORD [WORD]",
	.summary = "test command lines",
	.tables = tables,
	.operands_min = 1,
	.operands_max = 2,
};

/* ---- what ends a program ---- */

static jmp_buf here;
static bool inside;
static int ended; /* with this status */

void
__wrap_exit(int status)
{
	if (!inside)
		__real_exit(status);
	ended = status;
	longjmp(here, 1);
}

static int output_fd = -1, outputs[2];

static void
catch_output(void)
{
	fflush(NULL);
	if (output_fd < 0)
		output_fd = memfd_create("stderr", MFD_CLOEXEC);
	outputs[0] = dup(STDOUT_FILENO);
	outputs[1] = dup(STDERR_FILENO);
	assert(output_fd >= 0 && outputs[0] >= 0 && outputs[1] >= 0);
	assert(
	    ftruncate(output_fd, 0) == 0 && lseek(output_fd, 0, SEEK_SET) == 0);
	dup2(output_fd, STDOUT_FILENO);
	dup2(output_fd, STDERR_FILENO);
}

static size_t
release_output(char *to)
{
	ssize_t n;

	fflush(NULL);
	dup2(outputs[0], STDOUT_FILENO);
	dup2(outputs[1], STDERR_FILENO);
	close(outputs[0]);
	close(outputs[1]);
	n = pread(output_fd, to, SAID_BYTES, 0);
	assert(n >= 0);
	return (size_t)n;
}

/* ---- the words ---- */

static int
parse(int argc, char **argv, struct opt_operands *operands)
{
	ended = -1;
	inside = true;
	if (setjmp(here) == 0)
		opt_parse(&program, argc, argv, operands);
	inside = false;
	return ended;
}

static bool
is_of(const char *at, char *const *argv, int argc)
{
	for (int i = 0; i < argc; i++)
		if (at >= argv[i] && at <= argv[i] + strlen(argv[i]))
			return true;
	return false;
}

static void
judge(int status, const struct opt_operands *operands, char *const *words,
    int argc)
{
	static char text[SAID_BYTES];
	size_t bytes = release_output(text);
	const char *end = memchr(text, '\n', bytes);

	assert(status == -1 || status == 0 || status == 2);
	if (status == 2) {
		/* One line, whatever is in the words. */
		assert(bytes > 0 && end == text + bytes - 1);
		for (size_t i = 0; i + 1 < bytes; i++)
			assert((unsigned char)text[i] >= 0x20);
	}
	if (status != -1)
		return;
	assert(operands->count >= 1 && operands->count <= 2);
	for (uint32_t i = 0; i < operands->count; i++)
		assert(is_of(operands->at[i], words, argc));
	assert(values.answer >= 0 && values.answer < ANSWER);
	assert(values.list.count <= OPT_LIST_MAX);
	if (opt_origin(&options[1]) == OPT_COMMAND_LINE)
		assert(is_of(values.text, words, argc));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char name[] = "poolscope-emit";
	char *argv[WORDS_MAX + 1] = { name }, *words[WORDS_MAX + 1] = { name };
	char *copy = malloc(size + 1);
	struct opt_operands operands = { NULL, 0 };
	int argc = 1, status;

	assert(copy != NULL);
	memcpy(copy, data, size);
	copy[size] = '\0';
	for (size_t at = 0; at < size && argc < WORDS_MAX;
	     at += strlen(copy + at) + 1)
		words[argc] = argv[argc] = copy + at, argc++;
	memset(&values, 0, sizeof(values));
	opt_common_values.dir = "/nonexistent";
	opt_common_values.config = NULL;
	catch_output();
	if (__lsan_disable != NULL)
		__lsan_disable();
	status = parse(argc, argv, &operands);
	if (__lsan_enable != NULL)
		__lsan_enable();
	judge(status, &operands, words, argc);
	free(copy);
	return 0;
}
