/*
 * marks - what an archiver does with the marks of a store, for flow tests.
 *
 *     marks STORE begin       give the store an archive (nobody has it open)
 *     marks STORE clear       remove all marks, as if all rows had been sent
 *     marks STORE rows TABLE  print how many rows a table has
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/marks/marks.h"

enum { ROWS = 1000 }; /* of a transaction */

static void
must(bool good, const struct err *err)
{
	if (good)
		return;
	fprintf(stderr, "marks: %s\n", err->text);
	exit(1);
}

static void
begin(struct db *db)
{
	struct err err = { 0 };
	struct db_txn *txn;
	bool more = true;

	must(db_begin(db, true, &txn, &err) == 0, &err);
	/* All of the journal is indexed. */
	marks_begin(txn, tables_fact(txn, FACT_INDEXED));
	must(db_commit(&txn, &err) == DB_OK, &err);
	while (more)
		must(marks_all_step(db, ROWS, &more, &err) == DB_OK, &err);
}

static void
clear(struct db *db)
{
	struct marks_clear clear = { .change = 0 };
	struct err err = { 0 };
	struct db_txn *txn;
	bool more = true;

	must(db_begin(db, false, &txn, &err) == 0, &err);
	clear.change = clear.settled = marks_last_change(txn);
	clear.row = marks_last_row(txn);
	db_abort(&txn);
	while (more)
		must(marks_clear_step(db, &clear, ROWS, &more, &err) == DB_OK,
		    &err);
}

static void
print_rows(struct db *db, const char *table)
{
	struct db_status status;
	struct err err = { 0 };

	must(db_status(db, &status, &err) == 0, &err);
	for (unsigned i = 0; i < TABLES_COUNT; i++)
		if (strcmp(tables_names[i], table) == 0)
			printf("%llu\n", (unsigned long long)status.rows[i]);
}

int
main(int argc, char **argv)
{
	struct db_options options = { .keep_map = true };
	struct err err = { 0 };
	struct db *db;

	if (argc < 3)
		return 2;
	must(tables_open(&db, argv[1], &options, &err) == 0, &err);
	if (strcmp(argv[2], "begin") == 0)
		begin(db);
	else if (strcmp(argv[2], "clear") == 0)
		clear(db);
	else if (argc == 4)
		print_rows(db, argv[3]);
	db_close(&db);
	return 0;
}
