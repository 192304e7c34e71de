/*
 * history - the cost of compacted records: bytes on disk, and the time to read
 * them all; see tests/bench/history.sh.
 *
 *     history events STORE PARTITION
 *     history stored STORE VALUES WHAT
 *     history samples DIR FILE NODES ROWS_OF_A_BATCH [PERIOD]
 *
 * The first two forms read a store.  The last creates one in DIR from the lines
 * of FILE (one object of numbers each, a second apart), as samples of that many
 * nodes, each shifted in time, through journal, indexer and compaction; as if
 * they were PERIOD seconds apart.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aggregator/query/reader.h"
#include "aggregator/rows/compacted_row.h"
#include "aggregator/tables/key.h"
#include "aggregator/tables/tables.h"
#include "aggregator/writer/writer.h"
#include "proto/json/json_reader.h"
#include "proto/os/clock.h"

/* Nodes begin at different rows, so that neighbours do not repeat each other.
 */
enum { APART = 397 };
enum { ROWS_MAX = 20000, METRICS_MAX = 64, BATCH_BYTES = 60000, ROUNDS = 9 };

static void
must(int rc, const struct err *err)
{
	if (rc == 0)
		return;
	fprintf(stderr, "history: %s\n", err->text);
	exit(1);
}

static double
seconds_since(int64_t begin_ns)
{
	return (double)(clock_monotonic_ns() - begin_ns) / 1e9;
}

/* ---- reading ---- */

struct scan {
	uint64_t records, checked;
	double select, decode; /* seconds */
};

static struct scan
scan(const char *store, const char *partition, enum record_kind kind)
{
	static unsigned char page[1 << 20];
	const struct wire_header question = { .type = WIRE_SELECT,
		.partition = text_of(partition) };
	struct wire_query query = { .kinds = 1u << kind,
		.from_ns = TIME_MIN_NS,
		.to_ns = TIME_MAX_NS };
	char cursor[WIRE_CURSOR_BYTES_MAX];
	struct wire_room room = { .at = NULL };
	struct scan scan = { 0, 0, 0, 0 };
	struct reader *reader;
	struct err err = { 0 };
	bool last = false;

	must(reader_open(&reader, store, &err), &err);
	while (!last) {
		struct wire_header header = { .type = WIRE_PAGE };
		int64_t begin_ns = clock_monotonic_ns();
		struct wire_writer w;
		struct wire_cursor walk;
		struct record record;
		struct text got, rest;

		wire_writer_init(&w, page, sizeof(page));
		must(reader_answer(reader, &question, &query, &w, &last, &err),
		    &err);
		scan.select += seconds_since(begin_ns);
		begin_ns = clock_monotonic_ns();
		header.records = w.records;
		header.body_bytes = (uint32_t)w.bytes;
		if (wire_page_body(&header,
			(struct text){ (const char *)page, (uint32_t)w.bytes },
			&room, &got, &rest) != WIRE_OK)
			abort();
		memcpy(cursor, got.at, got.bytes);
		query.cursor = (struct text){ cursor, got.bytes };
		wire_cursor_init(&walk, &header, rest);
		while (wire_next(&walk, &record)) {
			scan.records++;
			scan.checked += record.time_ns != 0;
		}
		scan.decode += seconds_since(begin_ns);
	}
	reader_close(&reader);
	wire_room_clear(&room);
	return scan;
}

static int64_t
cpu_ns(void)
{
	struct timespec at;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	return at.tv_sec * NS_PER_SECOND + at.tv_nsec;
}

/* Only the records, from the rows of the store. */
static double
unpack_all(const char *store, uint64_t *records)
{
	struct db_options options = { .read_only = true };
	struct compacted_row_rows rows = { .count = 0 };
	struct text all = { NULL, 0 }, key, value;
	struct db_cursor *cursor;
	struct row_block_item item;
	struct row_block_body body;
	struct key_row_block head;
	struct err err = { 0 };
	struct db_txn *txn;
	struct db *db;
	int64_t begin_ns;
	double seconds;

	*records = 0;
	must(tables_open(&db, store, &options, &err), &err);
	must(db_begin(db, false, &txn, &err), &err);
	cursor = db_cursor_open(txn, TABLES_CHUNKS);
	begin_ns = cpu_ns();
	for (bool more = db_seek(cursor, all, &key, &value); more;
	     more = db_next(cursor, &key, &value)) {
		if (!key_get_row_block(key, &head) ||
		    !compacted_row_open(&rows, value) ||
		    !compacted_row_read_bodies(&rows))
			abort();
		for (uint32_t i = 0; i < rows.count; i++) {
			compacted_row_get(&rows, i, &item);
			*records += row_block_get_body(item.body,
			    (enum record_kind)head.kind, item.time_ns, &body);
		}
	}
	seconds = (double)(cpu_ns() - begin_ns) / 1e9;
	db_cursor_close(&cursor);
	db_abort(&txn);
	db_close(&db);
	compacted_row_rows_clear(&rows);
	return seconds;
}

static void
print_scan(const char *store, const char *partition, enum record_kind kind,
    const char *what)
{
	struct scan best = { 0, 0, 1e9, 1e9 };
	double least = 1e9;

	for (int i = 0; i < ROUNDS; i++) {
		struct scan one = scan(store, partition, kind);
		uint64_t records;
		double seconds = unpack_all(store, &records);

		if (seconds * 1e6 / (double)records < least)
			least = seconds * 1e6 / (double)records;
		if (one.select + one.decode < best.select + best.decode)
			best = one;
	}
	printf("%-44s %8.3f s CPU\n", what, least);
	printf("%-44s %8.3f s; %.3f s to read those\n",
	    "  as pages of an answer", best.select * 1e6 / (double)best.records,
	    best.decode * 1e6 / (double)best.records);
}

static struct db_status
status_of(const char *store)
{
	struct db_options options = { .read_only = true };
	struct db_status status;
	struct err err = { 0 };
	struct db *db;

	must(tables_open(&db, store, &options, &err), &err);
	must(db_status(db, &status, &err), &err);
	db_close(&db);
	return status;
}

static void
events(const char *store, const char *partition)
{
	struct db_status status = status_of(store);
	uint64_t records = scan(store, partition, RECORD_EVENT).records;

	printf("%-44s %8.2f bytes an event, %llu events (goal 12)\n",
	    "10,000 nodes start, compacted",
	    (double)status.bytes[TABLES_CHUNKS] / (double)records,
	    (unsigned long long)records);
	printf("%-44s %8.2f bytes an event\n", "  names, phases, statistics",
	    (double)(status.bytes[TABLES_NAMES] + status.bytes[TABLES_PHASES] +
		     status.bytes[TABLES_STATS]) /
		(double)records);
	print_scan(store, partition, RECORD_EVENT,
	    "scan of a million of them (goal 0.15 s)");
}

/* ---- samples of a store ---- */

static void
stored(const char *store, const char *values, const char *what)
{
	struct db_status status = status_of(store);
	double count = strtod(values, NULL);

	printf("%-44s %8.2f bytes a value (goal 1.0)\n", what,
	    (double)status.bytes[TABLES_CHUNKS] / count);
	printf("%-44s %8.2f bytes a value\n", "  rollups",
	    (double)(status.bytes[TABLES_ROLLUPS] +
		     status.bytes[TABLES_ROLLUPS + 1]) /
		count);
	printf("%-44s %8.2f bytes a value\n", "  names, definitions",
	    (double)(status.bytes[TABLES_NAMES] +
		     status.bytes[TABLES_NAME_BLOCKS] +
		     status.bytes[TABLES_ENTITIES] +
		     status.bytes[TABLES_ENTITY_BLOCKS]) /
		count);
}

/* ---- samples ---- */

static struct {
	int64_t time_ns[ROWS_MAX];
	struct value value[ROWS_MAX][METRICS_MAX];
	uint32_t rows, metrics, period;
	char names[4096], types[4096];
} data;

static void
note_metric(const char *name)
{
	static const char *const counters[] = { "io_r", "io_w", "io_rc",
		"io_wc", "lo_s", "lo_r", "ext_s", "ext_r", "user", "sys",
		"idle", "iow", "ctx" };
	const char *type = "gauge";

	for (unsigned i = 0; i < sizeof(counters) / sizeof(*counters); i++)
		if (strcmp(name, counters[i]) == 0)
			type = "counter";
	strcat(strcat(data.names, " "), name);
	strcat(strcat(data.types, " "), type);
}

static void
read_row(struct text row)
{
	struct json_reader reader;
	struct value number;
	struct text key;
	uint32_t metric = 0;

	json_reader_init(&reader, row);
	json_reader_enter(&reader, '{');
	while (json_reader_member(&reader, &key)) {
		struct value *to = &data.value[data.rows][metric];
		char name[NAME_BYTES_MAX + 1];

		json_reader_number(json_reader_take(&reader), &number);
		if (text_equal(key, text_of("timestamp"))) {
			data.time_ns[data.rows] = (int64_t)(number.is.f * 1e9);
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)key.bytes, key.at);
		if (metric++ == METRICS_MAX)
			abort();
		if (data.rows == 0)
			note_metric(name);
		*to = number;
	}
	data.metrics = metric;
	data.rows++;
}

static void
read_data(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[4096];

	if (file == NULL) {
		perror(path);
		exit(1);
	}
	while (data.rows < ROWS_MAX && fgets(line, sizeof(line), file) != NULL)
		read_row(text_of(line));
	fclose(file);
}

/* What a node sends: its own session, `rows` samples per batch. */
struct sender {
	struct journal *journal;
	struct wire_writer w;
	unsigned char body[BATCH_BYTES + 8192];
	unsigned node;
	uint64_t seq;
	int64_t now_ns;
};

static void
send_batch(struct sender *sender)
{
	static unsigned char frame[WIRE_FRAME_BYTES_MAX];
	char node[32];
	struct wire_header header = { .type = WIRE_BATCH,
		.partition = text_of("bench$hosts"),
		.session.bytes = { 's', (unsigned char)(sender->node >> 8),
		    (unsigned char)sender->node },
		.seq = ++sender->seq,
		.records = sender->w.records,
		.body_bytes = (uint32_t)sender->w.bytes };
	/* The arrival of the batch, after some milliseconds of transfer. */
	struct journal_note note = { .seq = header.seq,
		.receive_ns = sender->now_ns + 3000000 + rand() % 4000000 };
	size_t bytes;

	snprintf(node, sizeof(node), "host-%04u", sender->node);
	header.node = text_of(node);
	bytes = wire_frame(frame, sizeof(frame), &header,
	    (struct text){
		(const char *)sender->body, (uint32_t)sender->w.bytes });
	journal_append(sender->journal,
	    (struct text){ (const char *)frame, (uint32_t)bytes }, &note);
	wire_writer_init(&sender->w, sender->body, sizeof(sender->body));
}

/* Define the metric group, once. */
static void
define(struct sender *sender)
{
	unsigned char bytes[2 * sizeof(data.names) + 64];
	struct record record = { .kind = RECORD_ENTITY,
		.source = text_of("set"),
		.name = text_of("host"),
		.attributes = 2 };
	struct wire_writer w;

	wire_writer_init(&w, bytes, sizeof(bytes));
	wire_put_text_attribute(&w, text_of("names"), text_of(data.names + 1));
	wire_put_text_attribute(&w, text_of("types"), text_of(data.types + 1));
	record.pairs = (struct text){ (const char *)bytes, (uint32_t)w.bytes };
	wire_put_record(&sender->w, &record);
}

static void
send_node(struct journal *journal, unsigned node, uint32_t rows_of_batch)
{
	static struct sender sender;
	int64_t shift_ns = -(data.time_ns[0] % KEY_HOUR_NS) +
			   (int64_t)node * 1234567891 % (400 * NS_PER_SECOND);
	unsigned char bytes[METRICS_MAX * 9];

	sender = (struct sender){ .journal = journal, .node = node };
	wire_writer_init(&sender.w, sender.body, sizeof(sender.body));
	define(&sender);
	for (uint32_t i = 0; i < data.rows; i++) {
		struct record record = { .kind = RECORD_SAMPLE,
			.time_ns =
			    data.time_ns[0] + shift_ns +
			    (data.time_ns[i] - data.time_ns[0]) * data.period,
			.source = text_of("host"),
			.values = data.metrics };
		struct wire_writer values;

		wire_writer_init(&values, bytes, sizeof(bytes));
		for (uint32_t m = 0; m < data.metrics; m++)
			wire_put_value(&values,
			    &data.value[(i + node * APART) % data.rows][m]);
		record.value_bytes = (struct text){ (const char *)bytes,
			(uint32_t)values.bytes };
		wire_put_record(&sender.w, &record);
		sender.now_ns = record.time_ns;
		if (sender.w.records == rows_of_batch ||
		    sender.w.bytes > BATCH_BYTES)
			send_batch(&sender);
	}
	if (sender.w.records > 0)
		send_batch(&sender);
}

static void
make_store(const char *dir, unsigned nodes, uint32_t rows_of_batch)
{
	struct journal_options how = { .map_bytes = INT64_C(16) << 30 };
	struct writer_options options = { .map_bytes = INT64_C(16) << 30 };
	struct journal *journal;
	struct writer *writer;
	struct err err = { 0 };
	int64_t begin_ns;
	double indexer_s, compact_s;
	double values = (double)nodes * data.rows * data.metrics;

	must(journal_open(&journal, dir, &how, &err), &err);
	must(journal_begin(journal, &err), &err);
	for (unsigned i = 0; i < nodes; i++)
		send_node(journal, i, rows_of_batch);
	must(journal_commit(journal, &err) == DB_OK ? 0 : -1, &err);
	must(writer_open(&writer, dir, journal, &options, &err), &err);
	begin_ns = clock_monotonic_ns();
	must(writer_run(writer, &err), &err);
	indexer_s = seconds_since(begin_ns);
	begin_ns = clock_monotonic_ns();
	must(writer_compact(writer, &err), &err);
	compact_s = seconds_since(begin_ns);
	writer_close(&writer);
	journal_close(&journal);
	printf("%-44s %8.2f million values/s, compacted with %.2f\n",
	    "  indexed with", values / indexer_s / 1e6,
	    values / compact_s / 1e6);
}

static void
samples(const char *dir, const char *path, unsigned nodes, uint32_t of_batch)
{
	struct db_status status;
	double values;

	read_data(path);
	printf("%u nodes, %u samples of %u values, one in %u s, %u in a "
	       "batch\n",
	    nodes, data.rows, data.metrics, data.period, of_batch);
	make_store(dir, nodes, of_batch);
	status = status_of(dir);
	values = (double)nodes * data.rows * data.metrics;
	printf("%-44s %8.3f bytes a value with its time (goal 0.9)\n", "  raw",
	    (double)status.bytes[TABLES_CHUNKS] / values);
	printf("%-44s %8.3f bytes a value, and %.3f; all: %.3f (goal %s)\n",
	    "  by 1 min and 1 h", (double)status.bytes[TABLES_ROLLUPS] / values,
	    (double)status.bytes[TABLES_ROLLUPS_END] / values,
	    (double)(status.bytes[TABLES_CHUNKS] +
		     status.bytes[TABLES_ROLLUPS] +
		     status.bytes[TABLES_ROLLUPS_END]) /
		values,
	    data.period < 10 ? "0.75" : "1.2");
	print_scan(
	    dir, "bench$hosts", RECORD_SAMPLE, "  scan of a million samples");
}

int
main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "events") == 0)
		events(argv[2], argv[3]);
	else if ((argc == 6 || argc == 7) && strcmp(argv[1], "samples") == 0) {
		data.period =
		    argc == 7 ? (uint32_t)strtoul(argv[6], NULL, 10) : 1;
		samples(argv[2], argv[3], (unsigned)strtoul(argv[4], NULL, 10),
		    (uint32_t)strtoul(argv[5], NULL, 10));
	} else if (argc == 5 && strcmp(argv[1], "stored") == 0) {
		stored(argv[2], argv[3], argv[4]);
	} else {
		fputs("usage: history events STORE PARTITION\n"
		      "       history stored STORE VALUES WHAT\n"
		      "       history samples DIR FILE NODES ROWS_OF_A_BATCH"
		      " [PERIOD]\n",
		    stderr);
		return 2;
	}
	return 0;
}
