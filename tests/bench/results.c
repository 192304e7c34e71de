/*
 * results - makes a store of results, as poolscope-upload would have put them
 * there; tests/bench/results.sh says how long it takes to ask it.
 *
 *	results DIR PARTITION FILES ENTRIES
 *
 * The files are of 50 tests, an hour between two of a test.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/writer/writer.h"
#include "exporters/results/read.h"
#include "exporters/results/result_file.h"
#include "proto/hash/prng.h"
#include "proto/os/clock.h"
#include "proto/wire/wire.h"

enum { TESTS = 50, BATCH_BYTES = 200000, SPARE_BYTES = 128 << 10, LOT = 4000 };

static struct {
	struct journal *journal;
	struct writer *writer;
	struct wire_writer w;
	unsigned char body[BATCH_BYTES + SPARE_BYTES], pairs[SPARE_BYTES];
	struct wire_writer pair;
	uint32_t attributes;
	const char *partition;
	uint64_t seq;
} to;

static void
must(int rc, const struct err *err)
{
	if (rc == 0)
		return;
	fprintf(stderr, "results: %s\n", err->text);
	exit(1);
}

static void
send_batch(void)
{
	static unsigned char frame[WIRE_FRAME_BYTES_MAX];
	struct wire_header header = { .type = WIRE_BATCH,
		.partition = text_of(to.partition),
		.node = text_of("bench"),
		.session.bytes = { 'r' },
		.seq = ++to.seq,
		.records = to.w.records,
		.body_bytes = (uint32_t)to.w.bytes };
	struct journal_note note = { .seq = header.seq,
		.receive_ns = clock_wall_ns() };
	size_t bytes = wire_frame(frame, sizeof(frame), &header,
	    (struct text){ (const char *)to.body, (uint32_t)to.w.bytes });

	if (bytes == 0 || to.w.full)
		abort();
	journal_append(to.journal,
	    (struct text){ (const char *)frame, (uint32_t)bytes }, &note);
	wire_writer_init(&to.w, to.body, sizeof(to.body));
}

static void
put_value(const char *key, struct value value)
{
	wire_put_attribute(&to.pair, text_of(key), &value);
	to.attributes++;
}

static void
put_int(const char *key, int64_t i)
{
	put_value(key, (struct value){ .type = VALUE_INT, .is.i = i });
}

static void
put_text(const char *key, struct text text)
{
	put_value(key, (struct value){ .type = VALUE_TEXT, .is.text = text });
}

static void
begin(struct text test)
{
	wire_writer_init(&to.pair, to.pairs, sizeof(to.pairs));
	to.attributes = 0;
	put_text("test", test);
}

static void
end(const char *kind, const char *id)
{
	struct record record = { .kind = RECORD_ENTITY,
		.source = text_of(kind),
		.name = text_of(id),
		.attributes = to.attributes,
		.pairs = { (const char *)to.pairs, (uint32_t)to.pair.bytes } };

	wire_put_record(&to.w, &record);
	if (to.w.bytes > BATCH_BYTES - SPARE_BYTES / 2)
		send_batch();
}

/* proto/wire.md, "Result files" */
static void
put_file(const struct result_file *file, int64_t stored_ns)
{
	char time[17], digest[2 * RESULT_DIGEST_BYTES + 1], name[25],
	    id[RESULT_ID_BYTES + 8];

	result_id_time(time, file->start_us);
	for (int i = 0; i < RESULT_DIGEST_BYTES; i++)
		snprintf(digest + 2 * i, 3, "%02x", file->digest[i]);
	for (uint32_t i = 0; i < file->count; i++) {
		const struct result_entry *entry = &file->entries[i];

		begin(file->test);
		put_text("entry", entry->name);
		put_int("start_us", file->start_us);
		put_value("timing", entry->timing);
		result_id_name(name, file->test, entry->name);
		snprintf(id, sizeof(id), "%s/%s/%s/%05x", name, time, digest,
		    i & 0xFFFFF);
		end(RESULT_KIND_ENTRY, id);
	}
	result_id_name(name, file->test, (struct text){ NULL, 0 });
	begin(file->test);
	end(RESULT_KIND_TEST, name);
	begin(file->test);
	put_int("start_us", file->start_us);
	put_text("info", file->text);
	put_int("stored_ns", stored_ns);
	put_text("file", text_of("bench.json"));
	put_int("entries", file->count);
	snprintf(id, sizeof(id), "%s/%s/%s", name, time, digest);
	end(RESULT_KIND_RUN, id);
}

static void
put_one(uint64_t number, uint64_t entries)
{
	static char text[SPARE_BYTES / 2];
	uint64_t noise = number;
	int used = snprintf(text, sizeof(text),
	    "{\"name\":\"//bench:test_%" PRIu64 "\",\"startTime\":\"%" PRIu64
	    "\",\"entries\":{\"entry\":[",
	    number % TESTS, 1500000000 + number / TESTS * 3600);
	struct result_file file;
	struct err err = { 0 };

	for (uint64_t i = 0; i < entries; i++) {
		used += snprintf(text + used, sizeof(text) - (size_t)used,
		    "%s{\"name\":\"BM_%" PRIu64 "\",\"wallTime\":0.00%" PRIu64
		    "}",
		    i > 0 ? "," : "", i, 100000 + prng_bits(&noise) % 9999);
	}
	used += snprintf(text + used, sizeof(text) - (size_t)used, "]}}");
	must(result_file_read(
		 &file, (struct text){ text, (uint32_t)used }, true, &err),
	    &err);
	put_file(&file, (int64_t)number + 1);
	result_file_clear(&file);
}

int
main(int argc, char **argv)
{
	struct journal_options how = { .map_bytes = INT64_C(64) << 30 };
	struct writer_options options = { .map_bytes = INT64_C(64) << 30,
		.pause_ns = -1 };
	int64_t begin_ns = clock_monotonic_ns();
	uint64_t files, entries;
	struct err err = { 0 };

	if (argc != 5) {
		fputs("usage: results DIR PARTITION FILES ENTRIES\n", stderr);
		return 2;
	}
	to.partition = argv[2];
	files = strtoull(argv[3], NULL, 10);
	entries = strtoull(argv[4], NULL, 10);
	wire_writer_init(&to.w, to.body, sizeof(to.body));
	must(journal_open(&to.journal, argv[1], &how, &err), &err);
	must(
	    writer_open(&to.writer, argv[1], to.journal, &options, &err), &err);
	for (uint64_t i = 0; i < files; i++) {
		if (i % LOT == 0)
			must(journal_begin(to.journal, &err), &err);
		put_one(i, entries);
		if (i % LOT != LOT - 1 && i + 1 < files)
			continue;
		if (to.w.records > 0)
			send_batch();
		must(journal_commit(to.journal, &err) == DB_OK ? 0 : -1, &err);
		must(writer_run(to.writer, &err), &err);
	}
	writer_close(&to.writer);
	journal_close(&to.journal);
	printf("%" PRIu64 " files of %" PRIu64 " entries: a store in %.1f s\n",
	    files, entries, (double)(clock_monotonic_ns() - begin_ns) / 1e9);
	return 0;
}
