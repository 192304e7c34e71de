/*
 * import_format - the formats that poolscope-import reads.
 *
 * Each format is one file of this folder that makes rows of its input; format.c
 * has the table of them.  A new format: its file, its line here and in
 * format.c, its number in agents/import/source.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_FORMATS_FORMAT_H
#define AGENTS_IMPORT_FORMATS_FORMAT_H

#include <stddef.h>

#include "agents/import/source.h"

/* What the command line says about the input.  The texts must outlive the
 * source. */
struct import_format_options {
	const char *name; /* of the input, for messages; NULL: its path */
	const char *node; /* testrun: of its rows; NULL: IMPORT_TESTRUN_NODE */
	const char *job;  /* scanner: id or name of the job */
	uint64_t subsample, seed; /* scanner: struct import_scanner_options */
};

struct import_format {
	const char *word;      /* of the command line: "perf" */
	const char *operands;  /* as of an opt_topic: " FILE..." */
	const char *summary;   /* what is imported */
	enum import_kind kind; /* of its sources */
	/* What has no partition of its own, so that --partition is required:
	 * "reports"; NULL: the rows name theirs. */
	const char *without_partition;
	/* What the last line of the output counts: "reports", "bad reports". */
	const char *rows, *bad_rows;
	/* What it takes, if that cannot be standard input: "directories". */
	const char *not_stdin;
	/* The names of the options that it alone takes; "": none. */
	const char *options;
	/* The input is known as a whole, by its content; otherwise each row is:
	 * equal rows of several inputs are one. */
	bool is_whole;
	/* open reads and checks all of the input, and source.bad is complete:
	 * do it once, before connecting. */
	bool is_checked_by_open;

	/* What is wrong with the options; NULL: nothing.  May be NULL. */
	const char *(*check)(const struct import_format_options *options);
	/* Before the sandbox: download the input to an unnamed file and return
	 * its descriptor, or -1.  NULL: the operand is a path. */
	int (*fetch)(const char *operand, const char *partition, bool quiet,
	    struct err *err);
	int (*open)(struct import_source *source, const char *path,
	    const struct import_format_options *options, struct err *err);
};

/* In the order of --help, up to a NULL. */
extern const struct import_format *const import_formats[];

/* NULL: there is no format of this name. */
const struct import_format *import_format_find(const char *word);

extern const struct import_format import_format_cascade, import_format_emits,
    import_format_perf, import_format_records, import_format_scanner,
    import_format_testrun, import_format_azure_table;

#endif
