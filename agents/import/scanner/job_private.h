/*
 * import_scanner_private - shared by job.c (checking), find.c and rows.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_SCANNER_JOB_PRIVATE_H
#define AGENTS_IMPORT_SCANNER_JOB_PRIVATE_H

#include <limits.h>
#include <stdatomic.h>

#include "agents/import/scanner/job.h"
#include "agents/import/scanner/profile.h"
#include "agents/import/scanner/sums.h"
#include "proto/base/varint.h"

enum {
	SCANNER_NOTES_SHOWN = 50,
	SCANNER_NOTES_BYTES = 16
			      << 10, /* of the job's property with the damage */
};

struct scanner_file {
	int32_t worker; /* -1: the master */
	bool is_usable; /* its head is valid */
	int64_t begin_ns, end_ns;
	uint64_t bytes, intervals;
	unsigned char digest[IMPORT_DIGEST_BYTES];
	uint32_t notes;
	struct buffer why; /* some of the damage, as lines */
};

struct import_scanner {
	char db[PATH_MAX];
	int32_t id, nodes; /* nodes: from the descriptor; -1: unknown */
	struct import_name name;
	int64_t base_ns, begin_ns, end_ns;
	struct scanner_file *files; /* the master first, then by number */
	uint32_t count;
	uint64_t bytes, notes, intervals;
	struct buffer why; /* of the whole job */
	unsigned char digest[IMPORT_DIGEST_BYTES];
	atomic_uint next_file, notes_stored;

	/* The position of the next row. */
	int step;
	uint32_t at; /* index of the file */
	bool opened;
	struct import_file file;
	struct import_profile profile;
	uint64_t bytes_before; /* bytes of finished files */
	struct import_scanner_sums sums;
	struct scanner_thread thread; /* the row read last */
	uint32_t threads;             /* of the file */
	char node[16], id_text[SCANNER_ID_BYTES];
	char track[SCANNER_TRACK_BYTES];
	char entity[NAME_BYTES_MAX + 1];
};

/* Set id, name, nodes and files; damage of the descriptor is reported and
 * counted. */
int import_scanner_find(struct import_scanner *scanner,
    const struct import_scanner_options *options, struct err *err);

/* The path of a file of the job. */
int import_scanner_path(const struct import_scanner *scanner,
    const struct scanner_file *file, char to[static PATH_MAX], struct err *err);

/* The callbacks of struct import_source. */
enum import_next import_scanner_next(
    void *arg, struct import_row *row, struct err *err);
uint64_t import_scanner_offset(const void *arg);
void import_scanner_rewind(void *arg);

#endif
