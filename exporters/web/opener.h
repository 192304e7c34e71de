/*
 * web_opener - opens the page in the browser of the user.
 *
 * The address has the token, which must not be an argument of a process: others
 * could see it.  So the browser is given a file that only the user can read,
 * and that leads to the address.  The process that starts the browser is made
 * before the sandbox, which forbids that.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_OPENER_H
#define EXPORTERS_WEB_OPENER_H

#include "proto/base/err.h"
#include "proto/config/instance.h"

struct web_opener {
	int fd; /* to the process that waits; -1: none */
	char path[INSTANCE_PATH_BYTES]; /* of the file; "": none */
};

/* Before the sandbox, and before any thread. */
void web_opener_start(struct web_opener *opener);
/* Write the file, and have it opened. */
int web_opener_open(
    struct web_opener *opener, const char *url, struct err *err);
/* Removes the file. */
void web_opener_clear(struct web_opener *opener);

#endif
