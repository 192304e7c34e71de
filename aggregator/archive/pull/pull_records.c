/*
 * pull_records - read the records of a partition, hour by hour.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/pull/pull_records.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/complete.h"
#include "aggregator/archive/pull/pull_rows.h"
#include "aggregator/archive/pull/pull_write.h"
#include "aggregator/archive/question.h"
#include "aggregator/archive/rows/identity.h"
#include "proto/base/memory.h"

enum {
	DAY_HOURS = PULL_HOURS_MAX,
	DAYS_MAX = 1 << 20,
	/* Before 1970: more than there are, whole days. */
	HOURS_BEFORE = 24 * 200000,
	PAGE_BYTES = 16 << 20, /* about that many in an answer */
	SERIES_BYTES = 8 << 20,
};

/* What a replica has of a day. */
struct day {
	bool answered;
	struct pull_sum hour[DAY_HOURS];
	uint64_t bytes[DAY_HOURS];
	uint64_t newest; /* the highest position */
};

/* Some series of an hour, from..to in the order of keys, and times of them. */
struct page {
	uint64_t major[2], minor[2];
	int64_t time_ns[2];
};

struct records {
	struct pull_into *into;
	enum record_kind kind;
	unsigned shard, replicas, replica;
	struct pull_write write;
	struct pull_rows rows;
	struct page *page;
	uint32_t pages, page_room;
	struct day day[CLICKHOUSE_REPLICAS_MAX];
	int32_t first, hours;     /* pull_record_hours */
	struct complete complete; /* pull_records */
};

/* About how many bytes an answer has of a row. */
static const char *
bytes_sql(enum record_kind kind)
{
	switch (kind) {
	case RECORD_SAMPLE: return "80 + 9 * length(v) + 8 * length(big)";
	case RECORD_GAP: return "150";
	case RECORD_REJECTED: return "250 + length(body)";
	default:
		return "150 + 4 * length(keys) + "
		       "length(arrayStringConcat(keys)) + "
		       "length(arrayStringConcat(vals))";
	}
}

static const char *
major(enum record_kind kind)
{
	return key_is_by_track((uint8_t)kind) ? "track" : "node";
}

static const char *
minor(enum record_kind kind)
{
	return key_is_by_track((uint8_t)kind) ? "node" : "track";
}

static const char *
database(const struct records *records)
{
	return clickhouse_database(records->into->client);
}

/* ---- which days and hours there are ---- */

static int
read_days(struct records *records, unsigned replica, int64_t **day,
    uint32_t *days, uint32_t *room, struct err *err)
{
	const struct question question = { records->into->client,
		records->shard, replica };
	struct text answer;
	uint64_t number;
	int rc;

	if (question_ask(&question, &answer, err,
		"SELECT DISTINCT intDiv(hour + %d, 24) FROM %s.%s WHERE %s AND "
		"hour >= %d",
		HOURS_BEFORE, database(records), archive_table(records->kind),
		records->into->where, records->into->from_hour) != 0)
		return -1;
	while ((rc = question_row(&question, &answer, &number, 1, err)) > 0) {
		if (*days == DAYS_MAX)
			return err_set(err, "archive: too many days");
		*day = memory_grow(*day, room, *days, sizeof(**day));
		(*day)[(*days)++] = (int64_t)number * DAY_HOURS - HOURS_BEFORE;
	}
	return rc;
}

/* `hours` from `first` on. */
static int
read_day(struct records *records, unsigned replica, int32_t first,
    int32_t hours, struct day *day, struct err *err)
{
	const struct question question = { records->into->client,
		records->shard, replica };
	uint64_t row[5];
	struct text answer;
	int rc;

	*day = (struct day){ .answered = false };
	if (question_ask(&question, &answer, err,
		"SELECT hour, count(), sum(h), sum(size), max(newest) FROM "
		"(SELECT hour, %s AS h, sum(%s) AS size, max(pos) AS newest "
		"FROM %s.%s WHERE %s AND "
		"hour >= %d AND hour < %d AND hour >= %d GROUP BY hour, h) "
		"GROUP BY hour",
		archive_identity_sql(records->kind), bytes_sql(records->kind),
		database(records), archive_table(records->kind),
		records->into->where, first, first + hours,
		records->into->from_hour) != 0)
		return -1;
	while ((rc = question_row(&question, &answer, row, 5, err)) > 0) {
		int64_t hour = (int64_t)row[0] - first;

		if (hour < 0 || hour >= hours)
			return err_set(err, "archive: an hour of another day");
		day->hour[hour] = (struct pull_sum){ row[1], 0, row[2] };
		day->bytes[hour] = row[3];
		if (row[4] > day->newest)
			day->newest = row[4];
	}
	day->answered = rc == 0;
	return rc;
}

/* ---- pages of an hour ---- */

static void
add_page(struct records *records, const struct page *page)
{
	records->page = memory_grow(
	    records->page, &records->page_room, records->pages, sizeof(*page));
	records->page[records->pages++] = *page;
}

/* A series that is large by itself: equal pieces of the hour. */
static void
add_pieces(struct records *records, const struct page *series, uint64_t bytes)
{
	int64_t from = (int64_t)records->write.hour * KEY_HOUR_NS;
	int64_t pieces = (int64_t)(bytes / SERIES_BYTES) + 1;
	struct page page = *series;

	for (int64_t i = 0; i < pieces; i++) {
		page.time_ns[0] = from + KEY_HOUR_NS / pieces * i;
		page.time_ns[1] =
		    i + 1 == pieces ? from + KEY_HOUR_NS - 1
				    : from + KEY_HOUR_NS / pieces * (i + 1) - 1;
		add_page(records, &page);
	}
}

static const struct page all_series = {
	{ 0, UINT32_MAX },
	{ 0, UINT32_MAX },
	{ -INT64_MAX, INT64_MAX },
};

static int
add_series(struct records *records, struct text answer,
    const struct question *question, struct err *err)
{
	struct page page = all_series;
	uint64_t row[3], bytes = 0;
	int rc;

	while ((rc = question_row(question, &answer, row, 3, err)) > 0) {
		struct page one = all_series;

		one.major[0] = one.major[1] = row[0];
		one.minor[0] = one.minor[1] = row[1];
		if (bytes > 0 && bytes + row[2] > PAGE_BYTES) {
			add_page(records, &page);
			bytes = 0;
		}
		if (row[2] > PAGE_BYTES) {
			add_pieces(records, &one, row[2]);
			continue;
		}
		if (bytes == 0)
			page = one;
		page.major[1] = row[0];
		page.minor[1] = row[1];
		bytes += row[2];
	}
	if (bytes > 0)
		add_page(records, &page);
	return rc;
}

static int
find_pages(struct records *records, uint64_t bytes, struct err *err)
{
	const struct question question = { records->into->client,
		records->shard, records->replica };
	enum record_kind kind = records->kind;
	struct text answer;

	records->pages = 0;
	if (bytes <= PAGE_BYTES) {
		add_page(records, &all_series);
		return 0;
	}
	if (question_ask(&question, &answer, err,
		"SELECT %s, %s, sum(%s) FROM %s.%s WHERE %s AND hour = %d "
		"GROUP BY %s, %s ORDER BY %s, %s",
		major(kind), minor(kind), bytes_sql(kind), database(records),
		archive_table(kind), records->into->where, records->write.hour,
		major(kind), minor(kind), major(kind), minor(kind)) != 0)
		return -1;
	return add_series(records, answer, &question, err);
}

/* ---- reading ---- */

/* Returns the names of the columns. */
static char *
columns_sql(enum record_kind kind)
{
	unsigned count;
	const struct native_column *columns = archive_columns(kind, &count);
	size_t bytes;
	char *sql = NULL;
	FILE *to = memory_stream(&sql, &bytes);

	for (unsigned i = 0; i < count; i++)
		fprintf(to, "%s%s", i > 0 ? ", " : "", columns[i].name);
	memory_stream_end(&to);
	return sql;
}

static char *
records_sql(const struct records *records, const struct page *page)
{
	enum record_kind kind = records->kind;
	const char *a = major(kind), *b = minor(kind);
	char *columns = columns_sql(kind);
	char *sql = memory_format(
	    "SELECT %s FROM %s.%s WHERE %s AND hour = %d AND "
	    "%s >= %llu AND %s <= %llu AND "
	    "(%s > %llu OR %s >= %llu) AND (%s < %llu OR %s <= %llu) AND "
	    "ts >= %lld AND ts <= %lld "
	    "ORDER BY %s, %s, ts, stream, seq, idx, pos DESC",
	    columns, database(records), archive_table(kind),
	    records->into->where, records->write.hour, a,
	    (unsigned long long)page->major[0], a,
	    (unsigned long long)page->major[1], a,
	    (unsigned long long)page->major[0], b,
	    (unsigned long long)page->minor[0], a,
	    (unsigned long long)page->major[1], b,
	    (unsigned long long)page->minor[1], (long long)page->time_ns[0],
	    (long long)page->time_ns[1], a, b);

	free(columns);
	return sql;
}

static int
read_page(struct records *records, const struct page *page, struct err *err)
{
	struct archive_row row;
	struct text answer;
	int got;

	if (pull_into_ask(records->into, records->shard, records->replica,
		records_sql(records, page), &answer, err) != 0)
		return -1;
	pull_rows_begin(&records->rows, records->kind, answer);
	while ((got = pull_rows_next(&records->rows, &row, err)) > 0)
		if (pull_write_row(&records->write, &row, err) != 0)
			return -1;
	return got;
}

static int
read_pages(struct records *records, const struct pull_sum *wanted,
    uint64_t bytes, struct err *err)
{
	const struct question question = { records->into->client,
		records->shard, records->replica };
	char place[QUESTION_PLACE_BYTES];

	if (find_pages(records, bytes, err) != 0)
		return -1;
	for (uint32_t i = 0; i < records->pages; i++)
		if (read_page(records, &records->page[i], err) != 0)
			return -1;
	if (pull_sum_is_equal(&records->write.sum, wanted))
		return 0;
	return err_set(err,
	    "archive: %s answered with %llu rows of table %s, it has %llu",
	    question_place(&question, place, sizeof(place)),
	    (unsigned long long)records->write.sum.rows,
	    archive_table(records->kind), (unsigned long long)wanted->rows);
}

static void
note_found(struct records *records)
{
	struct complete *complete = &records->complete;

	if (records->write.hour >= complete_from(&complete->counted))
		complete->found[records->kind] += records->write.sum.rows;
}

/* From a replica that has what the most complete one has. */
static int
read_hour(
    struct records *records, int32_t first, unsigned hour, struct err *err)
{
	struct pull_sum best = { .rows = 0 };

	for (unsigned r = 0; r < records->replicas; r++)
		if (records->day[r].answered &&
		    pull_sum_compare(&records->day[r].hour[hour], &best) > 0)
			best = records->day[r].hour[hour];
	if (best.rows == 0)
		return 0;
	for (unsigned r = 0; r < records->replicas; r++) {
		const struct day *day = &records->day[r];

		if (!day->answered ||
		    !pull_sum_is_equal(&day->hour[hour], &best))
			continue;
		records->replica = r;
		if (day->newest > records->complete.newest_record)
			records->complete.newest_record = day->newest;
		if (pull_write_begin(&records->write, records->into->tables,
			records->kind, first + (int32_t)hour, err) != 0)
			return -1;
		if (read_pages(records, &best, day->bytes[hour], err) == 0) {
			note_found(records);
			return pull_write_commit(&records->write, err);
		}
		pull_write_abort(&records->write);
	}
	return -1;
}

/* At most a day. */
static int
read_hours(
    struct records *records, int32_t first, int32_t hours, struct err *err)
{
	bool answered = false;
	int rc = 0;

	for (unsigned r = 0; r < records->replicas; r++) {
		records->day[r].answered = false;
		if (!pull_into_is_away(records->into, records->shard, r))
			answered |=
			    pull_into_answered(records->into, records->shard, r,
				read_day(records, r, first, hours,
				    &records->day[r], err));
	}
	for (int32_t h = 0; answered && rc == 0 && h < hours; h++)
		rc = read_hour(records, first, (unsigned)h, err);
	return answered ? rc : -1;
}

static int
compare_days(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int
name_shard(const struct records *records, struct err *err)
{
	return err_prefix(err,
	    "archive: shard %u has no replica that gives all %s of %s",
	    records->shard + 1, archive_table(records->kind),
	    records->into->partition->name);
}

static int
read_shard(struct records *records, struct err *err)
{
	uint32_t days = 0, room = 0;
	int64_t *day = NULL;
	bool answered = false;
	int rc = 0;

	for (unsigned r = 0; r < records->replicas; r++)
		if (!pull_into_is_away(records->into, records->shard, r))
			answered |=
			    pull_into_answered(records->into, records->shard, r,
				read_days(records, r, &day, &days, &room, err));
	if (!answered)
		rc = -1;
	if (days > 1)
		qsort(day, days, sizeof(*day), compare_days);
	for (uint32_t i = 0; rc == 0 && i < days; i++)
		if (i == 0 || day[i] != day[i - 1])
			rc = read_hours(
			    records, (int32_t)day[i], DAY_HOURS, err);
	free(day);
	return rc == 0 ? 0 : name_shard(records, err);
}

/* Call `read` for each shard. */
static int
read_shards(struct records *records, enum record_kind kind,
    int (*read)(struct records *records, struct err *err), struct err *err)
{
	const struct clickhouse_cluster *cluster =
	    clickhouse_cluster(records->into->client);

	records->kind = kind;
	for (unsigned s = 0; s < cluster->shards; s++) {
		const struct pull_into *into = records->into;

		if (into->node != 0 &&
		    s != archive_shard(cluster->shards, into->partition->part,
			     into->node))
			continue;
		records->shard = s;
		records->replicas = cluster->shard[s].replicas;
		if (read(records, err) != 0)
			return -1;
	}
	return 0;
}

static int
read_all(struct records *records, struct err *err)
{
	for (unsigned i = 0; i < ARCHIVE_KINDS; i++)
		if (read_shards(records, archive_kinds[i], read_shard, err) !=
		    0)
			return -1;
	return 0;
}

static struct records *
records_new(struct pull_into *into)
{
	struct records *records = memory_zero(1, sizeof(*records));

	records->into = into;
	records->write.partition = into->number;
	records->write.part = into->partition->part;
	return records;
}

static void
records_free(struct records *records)
{
	pull_write_clear(&records->write);
	pull_rows_clear(&records->rows);
	free(records->page);
	free(records);
}

/* What the aggregator counted, which was read with the keys and values. */
static int
begin_complete(struct records *records, struct err *err)
{
	struct pull_into *into = records->into;
	struct db_txn *txn;

	records->complete = (struct complete){ .client = into->client,
		.silences = into->silences,
		.name = into->partition->name,
		.part = into->partition->part,
		.newest_row = into->newest_row };
	if (db_begin(into->tables, false, &txn, err) != 0)
		return -1;
	tables_get_counts(txn, into->number, &records->complete.counted);
	db_abort(&txn);
	return 0;
}

static int
check_complete(struct records *records, struct err *err)
{
	struct pull_into *into = records->into;
	struct complete *complete = &records->complete;
	struct err why = { .text = "" };

	/* Hours that were left in the archive are not in the sum. */
	if (into->from_hour > complete_from(&complete->counted))
		memset(complete->counted.records, 0,
		    sizeof(complete->counted.records));
	if (complete_check(complete, &why) == 0)
		return 0;
	if (into->on_lack != NULL) {
		into->on_lack(why.text);
		return 0;
	}
	*err = why;
	return -1;
}

int
pull_records(struct pull_into *into, struct err *err)
{
	struct records *records = records_new(into);
	int rc = pull_write_open(&records->write, into->tables, err);

	if (rc == 0)
		rc = begin_complete(records, err);
	if (rc == 0)
		rc = read_all(records, err);
	/* Records without their names are malformed. */
	if (rc != 0 &&
	    records->complete.newest_record > records->complete.newest_row)
		rc = complete_check(&records->complete, err);
	if (rc == 0)
		rc = check_complete(records, err);
	if (rc == 0)
		rc = pull_write_close(&records->write, into->tables, err);
	for (unsigned i = 0; i < RECORD_KINDS; i++)
		if (archive_table((enum record_kind)i) != NULL)
			into->records += records->write.now.counts.records[i];
	if (records->write.now.last_ns > into->last_ns)
		into->last_ns = records->write.now.last_ns;
	records_free(records);
	return rc;
}

/* ---- some hours ---- */

static int
read_some(struct records *records, struct err *err)
{
	return read_hours(records, records->first, records->hours, err) == 0
		   ? 0
		   : name_shard(records, err);
}

int
pull_record_hours(struct pull_into *into, enum record_kind kind, int32_t first,
    int32_t hours, struct pull_hours *got, struct err *err)
{
	struct records *records = records_new(into);
	const char *where = into->where;
	char *of_node = memory_format("%s AND node = %u", where, into->node);
	int rc = pull_write_open(&records->write, into->tables, err);

	records->first = first;
	records->hours = hours;
	if (into->node != 0)
		into->where = of_node;
	if (rc == 0)
		rc = read_shards(records, kind, read_some, err);
	into->where = where;
	into->records += records->write.now.counts.records[kind];
	*got = (struct pull_hours){ records->write.now.bytes,
		records->write.now.oldest_ns, records->write.now.last_ns };
	free(of_node);
	records_free(records);
	return rc;
}
