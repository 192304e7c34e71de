/*
 * confirm - asks before something is deleted that nothing brings back.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/admin/confirm.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool
confirm_can_ask(void)
{
	return isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
}

bool
confirm_ask(const char *question)
{
	char line[16];

	fprintf(stderr, "%s [y/N] ", question);
	fflush(stderr);
	return fgets(line, sizeof(line), stdin) != NULL &&
	       (strcmp(line, "y\n") == 0 || strcmp(line, "yes\n") == 0);
}
