/*
 * archive_trip STORE - send every record of a store through the columns of the
 * archive and back; print how many there are.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/archive/trip_store.h"

#include <inttypes.h>

int
main(int argc, char **argv)
{
	struct db_options options = { .map_bytes = UINT64_C(1) << 30 };
	struct err err = { 0 };
	struct db *db;

	if (argc != 2) {
		fprintf(stderr, "usage: archive_trip STORE\n");
		return 2;
	}
	if (tables_open(&db, argv[1], &options, &err) != 0) {
		fprintf(stderr, "archive_trip: %s\n", err.text);
		return 1;
	}
	printf("%" PRIu64 "\n", trip_store(db));
	db_close(&db);
	return 0;
}
