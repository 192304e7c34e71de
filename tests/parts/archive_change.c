/*
 * archive_change STORE NUMBER - go on counting the changes of a store from this
 * number on, as if there had been as many.
 * archive_change STORE phase - make the first row of the events of a phase one
 * that cannot be read.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/phases/part_row.h"
#include "aggregator/tables/tables.h"

static int
damage_phase(struct db_txn *txn)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_PHASES);
	struct text key, value;
	struct part_row_key of;
	bool more = db_seek(cursor, text_of(""), &key, &value);

	while (more && !part_row_get_key(key, &of))
		more = db_next(cursor, &key, &value);
	if (more) {
		unsigned char name[PART_ROW_KEY_BYTES];

		db_put(txn, TABLES_PHASES, part_row_put_key(name, &of),
		    text_of("\t"));
	}
	db_cursor_close(&cursor);
	return more ? 0 : -1;
}

int
main(int argc, char **argv)
{
	struct db_options options = { .keep_map = true };
	struct err err = { .text = "" };
	struct db_txn *txn;
	struct db *db;
	bool is_damage = argc == 3 && strcmp(argv[2], "phase") == 0;
	uint64_t number = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;

	if (number == 0 && !is_damage)
		return 2;
	if (tables_open(&db, argv[1], &options, &err) != 0 ||
	    db_begin(db, true, &txn, &err) != 0) {
		fprintf(stderr, "archive_change: %s\n", err.text);
		return 1;
	}
	if (is_damage && damage_phase(txn) != 0)
		return 1;
	if (tables_fact(txn, FACT_CHANGE) < number)
		tables_put_fact(txn, FACT_CHANGE, number);
	if (db_commit(&txn, &err) != 0) {
		fprintf(stderr, "archive_change: %s\n", err.text);
		return 1;
	}
	db_close(&db);
	return 0;
}
