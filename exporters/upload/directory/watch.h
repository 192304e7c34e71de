/*
 * upload_watch - wait for new files in a directory.
 *
 * INT and TERM end the wait.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_DIRECTORY_WATCH_H
#define EXPORTERS_UPLOAD_DIRECTORY_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/net/loop/loop.h"

struct upload_watch {
	struct loop *loop;
	struct loop_timer timer;
	int fd;
	bool gone; /* the directory was moved or removed */
};

/* Call upload_watch_close whatever this returns. */
int upload_watch_open(
    struct upload_watch *watch, const char *path, struct err *err);
void upload_watch_close(struct upload_watch *watch);

/* Wait for a new file, at most this long.  False: stop watching. */
bool upload_watch_wait(struct upload_watch *watch, int64_t limit_ns);

#endif
