/*
 * upload_directory - the files of a directory, to targets and then to the
 * archive.
 *
 * A file under way is locked; it moves when every target has it and the store
 * says so.  What is bad, or in the way, is reported once and stays.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_DIRECTORY_H
#define EXPORTERS_UPLOAD_DIRECTORY_H

#include "exporters/upload/inbox.h"
#include "proto/base/err.h"
#include "proto/config/opt.h"

struct upload_directory; /* opaque */

struct upload_directory_options {
	struct inbox *data, *archive;
	const char *const *to; /* targets */
	uint32_t targets;
	const char *partition, *node;
	const struct source_options *asked; /* what has been sent before */
	const struct http_options *http;    /* how targets are asked */
	const struct opt_list *brokers;     /* none: that of the instance */
	int64_t timeout_ns, settle_ns;
	bool strict, refuse, dry, progress;
};

struct upload_directory_counters {
	uint64_t files, entries; /* done */
	uint64_t bad;            /* files */
	uint64_t refused;        /* of them, those put aside */
	uint64_t bad_entries;    /* left out of files that are not */
	uint64_t left;           /* files that will do another time */
	uint64_t failed; /* of them, those that a target, or the archive,
			 did not take */
};

int upload_directory_open(struct upload_directory **files,
    const struct upload_directory_options *options, struct err *err);
void upload_directory_close(struct upload_directory **files);

/* All that is there and settled.  -1: it is no use to go on, now. */
int upload_directory_pass(struct upload_directory *files, struct err *err);
/* When the next file of the last pass will be settled (wall clock); 0: none
 * waits for that. */
int64_t upload_directory_settled_ns(const struct upload_directory *files);

const struct upload_directory_counters *upload_directory_counters(
    const struct upload_directory *files);

#endif
