/*
 * stderr_text - what a function writes to standard error.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_STDERR_TEXT_H
#define TESTS_UNIT_STDERR_TEXT_H

#include <unistd.h>

#include "tests/unit/check.h"

/* What `say` writes, at most a pipe of it; valid until the next call. */
static inline const char *
stderr_text(void (*say)(void))
{
	static char text[8192];
	int saved = dup(STDERR_FILENO), fds[2];
	ssize_t bytes;

	assert_int_equal(pipe(fds), 0);
	dup2(fds[1], STDERR_FILENO);
	say();
	dup2(saved, STDERR_FILENO);
	close(fds[1]);
	bytes = read(fds[0], text, sizeof(text) - 1);
	text[bytes < 0 ? 0 : bytes] = '\0';
	close(fds[0]);
	close(saved);
	return text;
}

#endif
