/*
 * import_format_scanner - a profiled job of a Scanner database;
 * agents/import/scanner/ reads it.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/formats/format.h"
#include "agents/import/scanner/job.h"

static const char *
check(const struct import_format_options *options)
{
	return options->job == NULL || *options->job == '\0'
		   ? "scanner needs the job of the database: --job is missing"
		   : NULL;
}

static int
open_job(struct import_source *source, const char *db,
    const struct import_format_options *options, struct err *err)
{
	const struct import_scanner_options which = { options->job,
		options->subsample, options->seed };
	struct import_scanner *scanner;

	if (import_scanner_open(&scanner, db, &which, err) != 0)
		return -1;
	*source = import_scanner_source(scanner);
	return 0;
}

const struct import_format import_format_scanner = {
	.word = "scanner",
	.operands = " DBDIR",
	.summary = "the profiles of a job of a Scanner database",
	.kind = IMPORT_SCANNER,
	.without_partition = "profiles",
	.rows = "intervals",
	.bad_rows = "damaged places",
	.options = "job subsample seed",
	.is_whole = true, /* a job: its intervals may be equal */
	.is_checked_by_open = true,
	.check = check,
	.open = open_job,
};
