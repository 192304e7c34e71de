/*
 * upload_directory_private - what the parts of upload_directory share:
 * directory.c reads and sends, flights.c waits and archives.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_DIRECTORY_PRIVATE_H
#define EXPORTERS_UPLOAD_DIRECTORY_PRIVATE_H

#include "exporters/upload/destinations.h"
#include "exporters/upload/directory.h"
#include "exporters/upload/reported_files.h"
#include "proto/os/progress.h"

enum {
	FLIGHTS_MAX = 256,
	LINES = 3,       /* sessions: while one commits another fills */
	LINE_FILES = 16, /* then it is the next one's turn */
	/* Fewer go by one session: an aggregator takes so many an hour. */
	LINES_FILES_MIN = 1000,
	TAG_BYTES = 9,
	FAILURES_MAX = 3, /* in a row; then it is not the file's fault */
};

/* A file that all targets but the store have, and the store soon. */
struct flight {
	struct inbox_file file; /* the name is its own */
	int fd;
	struct publisher *line;
	uint64_t upto; /* what must be acknowledged on it */
	uint32_t entries;
	char tag[TAG_BYTES];
};

struct upload_directory {
	struct upload_directory_options options;
	struct destinations destinations;
	struct publisher *line[LINES];
	uint32_t turn;
	struct inbox refused;
	struct reported_files *reported_files;
	struct flight flight[FLIGHTS_MAX];
	uint32_t first, flights;
	uint32_t unmoved, untaken; /* failures in a row */
	int64_t settled_ns;
	struct progress bar;
	int64_t shown_ns;
	struct upload_directory_counters counters;
	char text[RESULT_FILE_BYTES_MAX + 1];
};

/* Once, as long as it does not change.  `bad`: it is not looked at again. */
void upload_directory_say(struct upload_directory *u,
    const struct inbox_file *file, bool bad, const char *what);
void upload_directory_show(struct upload_directory *u);
/* A failure stays the file's own matter until it is that of all: -1. */
int upload_directory_count_failure(
    uint32_t *failures, const char *what, struct err *err);

/* The session whose turn it is; `*line` is NULL when nothing is to be sent. */
int upload_flight_line(
    struct upload_directory *u, struct publisher **line, struct err *err);
/* All targets have it, or `line` is about to tell the store.  Takes `fd`. */
int upload_flight_begin(struct upload_directory *u,
    const struct inbox_file *file, int fd, struct publisher *line,
    const struct result_file *result, struct err *err);
/* Until what was put into `line` is acknowledged. */
int upload_flight_await(
    struct upload_directory *u, struct publisher *line, struct err *err);
/* Until all of them are in the archive. */
int upload_flight_end(struct upload_directory *u, struct err *err);
/* What is under way is let go: another pass, or somebody else, takes it. */
void upload_flight_drop(struct upload_directory *u);

#endif
