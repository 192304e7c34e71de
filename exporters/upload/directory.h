/*
 * upload_directory - upload the files of a directory, then archive them.
 *
 * A file is locked while it is processed; it moves to the archive after every
 * target has it and the store has acknowledged it.  A bad or conflicting file
 * is reported once and stays in place.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_DIRECTORY_H
#define EXPORTERS_UPLOAD_DIRECTORY_H

#include "agents/delivery/publisher.h"
#include "exporters/source/source.h"
#include "exporters/upload/inbox.h"
#include "exporters/upload/targets/target.h"
#include "proto/base/err.h"
#include "proto/config/opt.h"
#include "proto/os/progress.h"

/* The targets of results, and which of them have a file. */
enum { DESTINATIONS_MAX = OPT_LIST_MAX };

struct destination {
	const char *name;               /* as the user gave it */
	const struct target_type *type; /* NULL: the store */
	struct target *target;
};

struct destinations {
	struct destination at[DESTINATIONS_MAX];
	uint32_t count;
	bool store;  /* a target is the store */
	bool others; /* a target is not the store */
	struct text partition;
	struct source_options asked; /* the store that records uploads */
	struct source *source;       /* opened on first use */
};

/* Does the target exist, and does it accept results? */
int destinations_find(struct destinations *destinations, const char *const *to,
    uint32_t count, struct err *err);

struct upload_directory; /* opaque */

struct upload_directory_options {
	struct inbox *data, *archive;
	const char *const *to; /* targets */
	uint32_t targets;
	const char *partition, *node;
	const struct source_options *asked; /* where uploads are recorded */
	const struct http_options
	    *http;                      /* options of requests to the targets */
	const struct opt_list *brokers; /* empty: the local instance */
	int64_t timeout_ns, settle_ns;
	bool strict, refuse, dry, progress;
};

struct upload_directory_counters {
	uint64_t files, entries; /* uploaded and archived */
	uint64_t bad;            /* bad files */
	uint64_t refused;        /* bad files moved to refused/ */
	uint64_t bad_entries;    /* skipped entries of good files */
	uint64_t left;           /* files to try again later */
	uint64_t failed; /* of those, rejected by a target or the archive */
};

int upload_directory_open(struct upload_directory **files,
    const struct upload_directory_options *options, struct err *err);
void upload_directory_close(struct upload_directory **files);

/* Process all settled files.  Returns -1 if it is useless to continue now. */
int upload_directory_pass(struct upload_directory *files, struct err *err);
/* When the next file of the last pass will be settled (wall clock); 0: no file
 * is waiting for that. */
int64_t upload_directory_settled_ns(const struct upload_directory *files);

const struct upload_directory_counters *upload_directory_counters(
    const struct upload_directory *files);

/*
 * Remember files that were already reported.
 *
 * A file that has changed since may be reported again.
 */

struct reported_files; /* opaque */

struct reported_files *reported_files_new(void);
void reported_files_free(struct reported_files **reported_files);

/* `bad`: reading this version again is useless. */
void reported_files_add(struct reported_files *reported_files,
    const struct inbox_file *file, bool bad);
bool reported_files_has(const struct reported_files *reported_files,
    const struct inbox_file *file, bool *bad);

#endif
