/*
 * file_put - upload a file to a storage service: in one request if it is
 * small, otherwise in parts, resuming an interrupted upload.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_COMMON_FILE_PUT_H
#define EXPORTERS_CLOUD_COMMON_FILE_PUT_H

#include "exporters/cloud/common/file_parts.h"

/* The operations of a service; `arg` is its state. */
struct file_put {
	void *arg;
	const char *name; /* name for messages: "s3:bucket/key" */

	/* Upload a file that has a single part. */
	int (*put_whole)(
	    void *arg, const struct file_part *part, struct err *err);
	/* Begin an upload in parts: find the parts of an earlier attempt. */
	int (*begin)(void *arg, struct err *err);
	/* Upload a part; sets `there` if the service already stores it. */
	int (*put_part)(void *arg, const struct file_part *part, bool *there,
	    struct err *err);
	/* All parts are uploaded: combine them, and verify the result. */
	int (*finish)(
	    void *arg, const struct file_parts *parts, struct err *err);
	/* The upload failed permanently: remove its parts.  May be NULL. */
	void (*abort)(void *arg);
	/* Did the last failure leave the service without an answer?  Then the
	 * same upload can be resumed later, and its parts are not removed. */
	bool (*is_lost)(const void *arg);
	bool dry; /* dry run: nothing is sent, so nothing is logged as sent */
};

int file_put(
    const struct file_put *put, int fd, int64_t bytes, struct err *err);

#endif
