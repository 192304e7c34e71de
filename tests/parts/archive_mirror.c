/*
 * archive_mirror URL PASSWORD BYTES PASSES PARTITION - read all records of a
 * partition through a mirror that keeps BYTES of them, PASSES times; PASSWORD
 * is a file.  Prints a line for each pass: how many records it had and a hash
 * of them, then what the mirror has and did so far.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/mirror/mirror.h"
#include "proto/base/memory.h"
#include "proto/hash/hash.h"

struct sums {
	uint64_t records, hash;
};

static void
stop(const struct err *err)
{
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

static void
add_text(struct sums *sums, struct text text)
{
	const struct hash_key key = { sums->hash, text.bytes };

	sums->hash = hash_bytes(key, text.at, text.bytes);
}

static void
add(struct sums *sums, const struct record *record)
{
	const int64_t numbers[] = { (int64_t)record->kind, record->time_ns,
		record->end_ns, record->receive_ns, (int64_t)record->id.seq,
		(int64_t)record->id.index };

	sums->records++;
	add_text(sums,
	    (struct text){ (const char *)numbers, (uint32_t)sizeof(numbers) });
	add_text(sums, record->node);
	add_text(sums, record->source);
	add_text(sums, record->name);
	add_text(sums, record->pairs);
	add_text(sums, record->value_bytes);
}

/* Add the records of a page; its cursor goes to `cursor`. */
static struct text
add_page(struct sums *sums, const struct wire_writer *w,
    char cursor[static WIRE_CURSOR_BYTES_MAX])
{
	struct wire_header header = { .type = WIRE_PAGE,
		.records = w->records,
		.body_bytes = (uint32_t)w->bytes };
	const struct text body = { (const char *)w->at, (uint32_t)w->bytes };
	struct wire_room room = { .at = NULL };
	struct wire_cursor walk;
	struct record record;
	struct text at, rest;

	if (wire_page_body(&header, body, &room, &at, &rest) != WIRE_OK)
		exit(1);
	wire_cursor_init(&walk, &header, rest);
	while (wire_next(&walk, &record))
		add(sums, &record);
	memcpy(cursor, at.at, at.bytes);
	wire_room_clear(&room);
	return (struct text){ cursor, at.bytes };
}

static struct sums
read_all(struct mirror *mirror, struct reader *reader, const char *partition)
{
	const struct wire_header header = { .type = WIRE_SELECT,
		.partition = text_of(partition) };
	struct wire_query query = { .kinds = UINT32_MAX,
		.from_ns = TIME_MIN_NS,
		.to_ns = TIME_MAX_NS };
	unsigned char *bytes = memory_alloc(WIRE_BODY_BYTES_MAX);
	char cursor[WIRE_CURSOR_BYTES_MAX];
	struct sums sums = { .records = 0 };
	struct err err = { .text = "" };
	bool last = false;

	while (!last) {
		struct wire_writer w;

		wire_writer_init(&w, bytes, WIRE_BODY_BYTES_MAX);
		if (mirror_answer(mirror, reader, &header, &query, &w, &last,
			INT64_MAX, &err) != MIRROR_DONE)
			stop(&err);
		query.cursor = add_page(&sums, &w, cursor);
	}
	free(bytes);
	return sums;
}

int
main(int argc, char **argv)
{
	struct mirror_options options = { .clickhouse = CLICKHOUSE_DEFAULT,
		.option = "to" };
	struct mirror_status status;
	struct mirror *mirror;
	struct reader *reader;
	struct err err = { .text = "" };

	if (argc != 6)
		return 2;
	options.clickhouse.url = argv[1];
	options.clickhouse.password = argv[2];
	options.bytes = strtoull(argv[3], NULL, 10);
	if (mirror_open(&mirror, &options, &err) != 0 ||
	    mirror_reader(mirror, &reader, &err) != 0)
		stop(&err);
	for (int i = atoi(argv[4]); i > 0; i--) {
		const struct sums sums = read_all(mirror, reader, argv[5]);

		mirror_status(mirror, &status);
		printf("%" PRIu64 " %016" PRIx64 " hours %" PRIu64
		       " fetched %" PRIu64 " dropped %" PRIu64 "\n",
		    sums.records, sums.hash, status.hours, status.fetched,
		    status.dropped);
	}
	reader_close(&reader);
	mirror_close(&mirror);
	return 0;
}
