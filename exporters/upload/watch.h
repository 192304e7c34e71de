/*
 * upload_watch - waits for files that arrive in a directory.
 *
 * INT and TERM end the wait.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_WATCH_H
#define EXPORTERS_UPLOAD_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/net/loop/loop.h"

struct upload_watch {
	struct loop *loop;
	struct loop_timer timer;
	int fd;
	bool gone; /* the directory was moved or removed */
};

/* Whatever comes back, upload_watch_close ends it. */
int upload_watch_open(
    struct upload_watch *watch, const char *path, struct err *err);
void upload_watch_close(struct upload_watch *watch);

/* Until something arrives, for at most so long.  False: it is over. */
bool upload_watch_wait(struct upload_watch *watch, int64_t limit_ns);

#endif
