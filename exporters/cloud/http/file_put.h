/*
 * file_put - a file to a storage service: whole when it is small, else in
 * parts, going on where an interrupted upload stopped.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_HTTP_FILE_PUT_H
#define EXPORTERS_CLOUD_HTTP_FILE_PUT_H

#include "exporters/cloud/http/file_parts.h"

/* What a service does; `arg` is its own. */
struct file_put {
	void *arg;
	const char *name; /* for messages: "s3:bucket/key" */

	/* The only part there is. */
	int (*put_whole)(
	    void *arg, const struct file_part *part, struct err *err);
	/* Several come: find what is there of an earlier attempt. */
	int (*begin)(void *arg, struct err *err);
	/* `there`: it was, and was not sent. */
	int (*put_part)(void *arg, const struct file_part *part, bool *there,
	    struct err *err);
	/* All were put: make them one, and see that it is what was sent. */
	int (*finish)(
	    void *arg, const struct file_parts *parts, struct err *err);
	/* It failed for good: leave nothing there.  May be NULL. */
	void (*abort)(void *arg);
	/* Did the last failure leave the service without an answer?  Then the
	 * same upload may go on later, and nothing is taken away. */
	bool (*is_lost)(const void *arg);
	bool dry; /* nothing is sent, and so nothing is said to be */
};

int file_put(
    const struct file_put *put, int fd, int64_t bytes, struct err *err);

#endif
