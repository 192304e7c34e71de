/*
 * upload_directory_private - shared by the parts of upload_directory:
 * directory.c reads and sends files, flights.c waits for acknowledgements and
 * archives.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_DIRECTORY_DIRECTORY_PRIVATE_H
#define EXPORTERS_UPLOAD_DIRECTORY_DIRECTORY_PRIVATE_H

#include "exporters/upload/directory/destinations.h"
#include "exporters/upload/directory/directory.h"
#include "exporters/upload/directory/reported_files.h"
#include "proto/os/progress.h"

enum {
	UPLOAD_FLIGHTS_MAX = 256,
	UPLOAD_SESSIONS = 3, /* sessions: one commits while another fills */
	UPLOAD_SESSION_FILES =
	    16, /* files per session before the next one takes over */
	/* A smaller number uses one session: an aggregator limits new sessions
	 * per hour. */
	UPLOAD_SESSIONS_FILES_MIN = 1000,
	TAG_BYTES = 9,
	UPLOAD_FAILURES_MAX =
	    3, /* consecutive failures that mean a fault outside the files */
};

/* A file that all targets but the store have, and that is sent to the store. */
struct flight {
	struct inbox_file file; /* owns its name */
	int fd;
	struct publisher *session;
	uint64_t upto; /* acknowledgement that it waits for on its session */
	uint32_t entries;
	char tag[TAG_BYTES];
};

struct upload_directory {
	struct upload_directory_options options;
	struct destinations destinations;
	struct publisher *session[UPLOAD_SESSIONS];
	uint32_t turn;
	struct inbox refused;
	struct reported_files *reported_files;
	struct flight flight[UPLOAD_FLIGHTS_MAX];
	uint32_t first, flights;
	uint32_t move_failures, send_failures; /* consecutive failures */
	int64_t settled_ns, stored_ns;
	struct progress bar;
	int64_t shown_ns;
	struct upload_directory_counters counters;
	char text[RESULT_FILE_BYTES_MAX + 1];
};

/* Report a file once per version.  `bad`: do not read this version again. */
void upload_directory_report(struct upload_directory *u,
    const struct inbox_file *file, bool bad, const char *what);
void upload_directory_show(struct upload_directory *u);
/* Count a failure of a file; -1 if too many consecutive files failed. */
int upload_directory_count_failure(
    uint32_t *failures, const char *what, struct err *err);

/* Get the current session; `*session` is NULL if nothing is sent to the store.
 */
int upload_flight_session(
    struct upload_directory *u, struct publisher **session, struct err *err);
/* Add a file that all targets have, or that is being sent over `session`. Takes
 * ownership of `fd`. */
int upload_flight_begin(struct upload_directory *u,
    const struct inbox_file *file, int fd, struct publisher *session,
    const struct result_file *result, struct err *err);
/* Wait until everything submitted to `session` is acknowledged. */
int upload_flight_await(
    struct upload_directory *u, struct publisher *session, struct err *err);
/* Wait until all files are archived. */
int upload_flight_end(struct upload_directory *u, struct err *err);
/* Release the files in progress: another pass or process continues with
 * them. */
void upload_flight_drop(struct upload_directory *u);

#endif
