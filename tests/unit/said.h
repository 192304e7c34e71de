/*
 * said - what is written to standard error.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_SAID_H
#define TESTS_UNIT_SAID_H

#include <unistd.h>

#include "tests/unit/check.h"

/* What `say` writes, at most a pipe of it; valid until the next call. */
static inline const char *
said(void (*say)(void))
{
	static char text[8192];
	int kept = dup(STDERR_FILENO), fds[2];
	ssize_t bytes;

	assert_int_equal(pipe(fds), 0);
	dup2(fds[1], STDERR_FILENO);
	say();
	dup2(kept, STDERR_FILENO);
	close(fds[1]);
	bytes = read(fds[0], text, sizeof(text) - 1);
	text[bytes < 0 ? 0 : bytes] = '\0';
	close(fds[0]);
	close(kept);
	return text;
}

#endif
