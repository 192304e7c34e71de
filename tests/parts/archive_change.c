/*
 * archive_change STORE NUMBER - go on counting the changes of a store from this
 * number on, as if there had been as many.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "aggregator/tables/tables.h"

int
main(int argc, char **argv)
{
	struct db_options options = { .keep_map = true };
	struct err err = { .text = "" };
	struct db_txn *txn;
	struct db *db;
	uint64_t number = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;

	if (number == 0)
		return 2;
	if (tables_open(&db, argv[1], &options, &err) != 0 ||
	    db_begin(db, true, &txn, &err) != 0) {
		fprintf(stderr, "archive_change: %s\n", err.text);
		return 1;
	}
	if (tables_fact(txn, FACT_CHANGE) < number)
		tables_put_fact(txn, FACT_CHANGE, number);
	if (db_commit(&txn, &err) != 0) {
		fprintf(stderr, "archive_change: %s\n", err.text);
		return 1;
	}
	db_close(&db);
	return 0;
}
