/*
 * rollups - rows of buckets, made of those of the archive.
 *
 * Buckets count if they are made of all samples of the series in the hour, or
 * if these are gone.  Of other series rows say that the samples are to be read,
 * as those of a store do.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/read/read_private.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/rollup_columns.h"
#include "aggregator/rollup/rollup_list.h"
#include "proto/base/memory.h"

/* ---- the series of an hour ---- */

enum { BUCKET_BYTES = 120 }; /* of a metric in an answer, about */

static bool
is_good(const struct read_series *series)
{
	return series->samples > 0 &&
	       (series->have == 0 || series->have == series->samples);
}

static int
take_series(void *arg, struct fetch *row, struct err *err)
{
	struct read_plan *plan = arg;
	struct read_series series = { .have = 0 };

	(void)err;
	series.node = names_number(plan->names, fetch_text(row));
	series.track = names_number(plan->names, fetch_text(row));
	series.samples = fetch_uint(row);
	series.bytes = fetch_uint(row);
	plan->bytes += series.bytes;
	*MEMORY_ADD(plan->at, plan->room, plan->count) = series;
	return 0;
}

/* How many samples there are of the first `known` series, and of others. */
struct samples {
	struct read_plan *plan;
	uint32_t known;
};

static int
take_samples(void *arg, struct fetch *row, struct err *err)
{
	struct samples *samples = arg;
	struct read_plan *plan = samples->plan;
	struct read_series is = { .bytes = 0 }, *at;

	(void)err;
	is.node = names_number(plan->names, fetch_text(row));
	is.track = names_number(plan->names, fetch_text(row));
	is.have = fetch_uint(row);
	at = bsearch(
	    &is, plan->at, samples->known, sizeof(is), read_compare_tracks);
	if (at != NULL) {
		at->have = is.have;
		return 0;
	}
	*MEMORY_ADD(plan->at, plan->room, plan->count) = is;
	return 0;
}

/* `counted`: how a sample is counted. */
static int
count_samples(struct archive_read *read, uint64_t part, uint32_t known,
    const char *counted, struct err *err)
{
	static const struct native_column columns[] = {
		{ "a", NATIVE_STRING },
		{ "b", NATIVE_STRING },
		{ "n", NATIVE_UINT64 },
	};
	const struct fetch_must *must = read->fetch.must;
	struct samples samples = { &read->plan, known };
	char *sql = memory_format(
	    "SELECT node AS a, track AS b, %s AS n FROM %s.%s WHERE part = "
	    "%llu AND hour = %d GROUP BY a, b",
	    counted, clickhouse_database(read->fetch.client),
	    schema_tables[SCHEMA_SAMPLES].name, (unsigned long long)part,
	    read->plan.hour);
	int rc;

	read->plan.count = known;
	read->fetch.must = NULL;
	rc = fetch_all(
	    &read->fetch, columns, 3, sql, take_samples, &samples, err);
	read->fetch.must = must;
	free(sql);
	return rc;
}

static bool
are_good(const struct read_plan *plan, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!is_good(&plan->at[i]))
			return false;
	return true;
}

static bool
has_good(const struct read_plan *plan)
{
	for (uint32_t i = 0; i < plan->count; i++)
		if (is_good(&plan->at[i]))
			return true;
	return false;
}

int
read_rollup_plan(struct archive_read *read, uint64_t part, struct err *err)
{
	static const struct native_column columns[] = {
		{ "a", NATIVE_STRING },
		{ "b", NATIVE_STRING },
		{ "s", NATIVE_UINT64 },
		{ "n", NATIVE_UINT64 },
	};
	struct read_plan *plan = &read->plan;
	char *sql = memory_format(
	    "SELECT node AS a, track AS b, sum(most) AS s, sum(size) AS n FROM "
	    "(SELECT node, track, bucket, max(samples) AS most, "
	    "toUInt64(sum(%d + %d * length(n))) AS size FROM %s.%s WHERE part "
	    "= %llu AND hour = %d AND step = %d GROUP BY node, track, bucket) "
	    "GROUP BY a, b",
	    BUCKET_BYTES, BUCKET_BYTES, clickhouse_database(read->fetch.client),
	    schema_tables[SCHEMA_ROLLUPS].name, (unsigned long long)part,
	    plan->hour, (int)plan->step);
	int rc =
	    fetch_all(&read->fetch, columns, 4, sql, take_series, plan, err);
	uint32_t known = plan->count;

	free(sql);
	if (rc != 0 || known == 0)
		return rc;
	qsort(plan->at, known, sizeof(*plan->at), read_compare_tracks);
	rc = count_samples(read, part, known, "count()", err);
	/* One that was sent twice is one. */
	if (rc == 0 && !are_good(plan, known))
		rc = count_samples(
		    read, part, known, "uniqExact(session, seq, idx)", err);
	if (rc == 0 && !has_good(plan))
		plan->count = 0;
	return rc;
}

/* ---- buckets ---- */

struct piece {
	uint32_t track, node, number; /* number: of its 64 metrics */
	uint32_t bucket;
	uint64_t pos;
	struct rollup_columns columns;
	uint32_t metrics, first; /* in metric and at */
};

struct pieces {
	const struct read_plan *plan;
	uint32_t from, count; /* series of the plan */
	struct piece *piece;
	uint32_t pieces, room;
	struct rollup_metric *metric;
	uint32_t metric_room;
	struct bucket *at;
	uint32_t used, at_room;
};

static bool
is_wanted(const struct pieces *pieces, const struct piece *piece)
{
	const struct read_series key = { .node = piece->node,
		.track = piece->track };
	const struct read_series *series =
	    bsearch(&key, pieces->plan->at + pieces->from, pieces->count,
		sizeof(key), read_compare_tracks);

	return series != NULL && is_good(series);
}

/* The array of the next column; false: it has not as many elements. */
static bool
get_array(struct fetch *row, uint32_t count, unsigned *column, uint32_t *first)
{
	*column = row->column++;
	return native_read_array(row->reader, *column, row->row, first) ==
	       count;
}

static bool
get_uints(struct fetch *row, uint32_t count, uint64_t *to)
{
	uint32_t first;
	unsigned column;

	if (!get_array(row, count, &column, &first))
		return false;
	for (uint32_t i = 0; i < count; i++)
		to[i] = native_read_uint(row->reader, column, first + i);
	return true;
}

static bool
get_floats(struct fetch *row, uint32_t count, double *to)
{
	uint32_t first;
	unsigned column;

	if (!get_array(row, count, &column, &first))
		return false;
	for (uint32_t i = 0; i < count; i++)
		to[i] = native_read_float(row->reader, column, first + i);
	return true;
}

enum { INDEX, COUNT, FIRST_NS, LAST_NS, FIRST_BOOT, LAST_BOOT, UINTS };
enum { SECONDS, LOW, HIGH, SUM, FIRST, LAST, FLOATS };

static bool
take_metric(const uint64_t uints[UINTS][ROLLUP_METRICS],
    const double floats[FLOATS][ROLLUP_METRICS], const char *letters,
    struct text *big, uint32_t i, struct bucket *to)
{
	*to = (struct bucket){ .count = uints[COUNT][i],
		.first = { (int64_t)uints[FIRST_NS][i], uints[FIRST_BOOT][i],
		    { .type = VALUE_NIL } },
		.last = { (int64_t)uints[LAST_NS][i], uints[LAST_BOOT][i],
		    { .type = VALUE_NIL } },
		.seconds = floats[SECONDS][i],
		.low = floats[LOW][i],
		.high = floats[HIGH][i],
		.sum = floats[SUM][i] };
	return to->count == 0 ||
	       (archive_get_number(
		    letters[1], floats[FIRST][i], big, &to->first.value) &&
		   archive_get_number(
		       letters[2], floats[LAST][i], big, &to->last.value) &&
		   counter_rate_is_number(&to->first.value) &&
		   counter_rate_is_number(&to->last.value));
}

/* The columns behind `metric`. */
static bool
take_metrics(struct pieces *pieces, struct piece *piece, struct fetch *row)
{
	enum { LETTERS = ROLLUP_COLUMNS_LETTERS };
	uint64_t uints[UINTS][ROLLUP_METRICS], bigs[2 * ROLLUP_METRICS];
	double floats[FLOATS][ROLLUP_METRICS];
	uint32_t count, unused;
	struct text types, big;
	bool good;

	count = native_read_array(row->reader, row->column, row->row, &unused);
	if (count == 0 || count > ROLLUP_METRICS)
		return false;
	good = get_uints(row, count, uints[INDEX]);
	types = fetch_text(row);
	for (unsigned i = COUNT; i < UINTS; i++)
		good = good && get_uints(row, count, uints[i]);
	for (unsigned i = 0; i < FLOATS; i++)
		good = good && get_floats(row, count, floats[i]);
	big.bytes =
	    native_read_array(row->reader, row->column, row->row, &unused);
	if (!good || types.bytes != LETTERS * count ||
	    big.bytes > 2 * ROLLUP_METRICS || !get_uints(row, big.bytes, bigs))
		return false;
	big = (struct text){ (const char *)bigs,
		big.bytes * (uint32_t)sizeof(*bigs) };
	for (uint32_t i = 0; i < count && good; i++) {
		pieces->metric[pieces->used] =
		    (struct rollup_metric){ (uint32_t)uints[INDEX][i],
			    types.at[LETTERS * i] == ROLLUP_COLUMNS_COUNTER };
		good = uints[INDEX][i] < RECORD_VALUES_MAX &&
		       take_metric(uints, floats, types.at + LETTERS * i, &big,
			   i, &pieces->at[pieces->used++]);
	}
	piece->metrics = count;
	return good && big.bytes == 0;
}

static int
take_piece(void *arg, struct fetch *row, struct err *err)
{
	struct pieces *pieces = arg;
	struct names *names = pieces->plan->names;
	struct piece piece = { .first = pieces->used };

	row->column += 3; /* part, hour, step */
	piece.track = names_number(names, fetch_text(row));
	piece.node = names_number(names, fetch_text(row));
	piece.number = (uint32_t)fetch_uint(row);
	piece.bucket = (uint32_t)fetch_uint(row);
	piece.pos = fetch_uint(row);
	piece.columns.defined = (uint32_t)fetch_uint(row);
	piece.columns.lacking = fetch_uint(row) != 0;
	row->column++; /* samples */
	if (!is_wanted(pieces, &piece))
		return 0;
	/* Room for another row. */
	while (pieces->at_room < pieces->used + ROLLUP_METRICS)
		MEMORY_GROW(pieces->at, pieces->at_room, pieces->at_room);
	while (pieces->metric_room < pieces->used + ROLLUP_METRICS)
		MEMORY_GROW(
		    pieces->metric, pieces->metric_room, pieces->metric_room);
	if (piece.bucket >= ROLLUP_BUCKETS ||
	    piece.columns.defined > RECORD_VALUES_MAX ||
	    piece.number > RECORD_VALUES_MAX / ROLLUP_METRICS ||
	    !take_metrics(pieces, &piece, row))
		return err_set(err, "archive: a row of rollups is malformed");
	*MEMORY_ADD(pieces->piece, pieces->room, pieces->pieces) = piece;
	return 0;
}

/* ---- rows ---- */

/* By row, then by node, the newest first. */
static int
compare_pieces(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	uint32_t bx = rollup_block(x->node), by = rollup_block(y->node);

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (bx != by)
		return bx < by ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (x->pos < y->pos) - (x->pos > y->pos);
}

/* What is written: the nodes of a row, and their buckets. */
struct row {
	struct chunk_writer *chunk;
	struct buffer value;
	struct rollup_node node[ROLLUP_NODES];
	uint32_t nodes, buckets;
	const struct rollup_metric *metric;
	uint32_t metrics;
};

static struct rollup_node *
find_node(struct row *row, uint32_t number)
{
	for (uint32_t k = 0; k < row->nodes; k++)
		if (row->node[k].node == number)
			return &row->node[k];
	return NULL;
}

/* The pieces of a row, `to` is behind the last.  Those of nodes whose newest
 * ones have another position are old. */
static bool
fill_nodes(
    const struct pieces *pieces, uint32_t from, uint32_t to, struct row *row)
{
	const struct piece *newest = NULL;

	for (uint32_t i = from; i < to; i++) {
		const struct piece *piece = &pieces->piece[i];
		struct rollup_node *node = find_node(row, piece->node);

		if (newest == NULL || newest->node != piece->node)
			newest = piece;
		if (node == NULL || newest->pos != piece->pos)
			continue;
		if (piece->bucket >= row->buckets)
			return false;
		node->columns.defined = piece->columns.defined;
		node->columns.lacking =
		    node->columns.lacking && piece->columns.lacking;
		for (uint32_t m = 0; m < piece->metrics; m++) {
			if (pieces->metric[piece->first + m].index !=
			    row->metric[m].index)
				return false;
			node->bucket[m * row->buckets + piece->bucket] =
			    pieces->at[piece->first + m];
		}
	}
	return true;
}

/* The series of the plan that are in the row of another one. */
static void
list_nodes(const struct read_plan *plan, uint32_t from, uint32_t to,
    bool is_first, struct row *row)
{
	row->nodes = 0;
	for (uint32_t i = from; i < to; i++) {
		const struct read_series *series = &plan->at[i];
		bool good = is_good(series);

		if (!good && !is_first)
			continue;
		row->node[row->nodes++] = (struct rollup_node){
			.node = series->node,
			/* No samples: nothing is lacking. */
			.columns = { 0, good && series->have > 0, !good },
			.bucket =
			    memory_zero((size_t)row->metrics * row->buckets + 1,
				sizeof(struct bucket)),
		};
	}
}

static void
put_row(const struct read_plan *plan, uint32_t series, uint32_t number,
    struct row *row, struct made *range)
{
	const struct key_row_block of = { .partition = plan->partition,
		.kind = RECORD_SAMPLE,
		.hour = plan->hour,
		.track = plan->at[series].track,
		.node = plan->at[series].node };
	struct key_row_block key = rollup_list_key(plan->step, &of, number);
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text value = rollup_write(row->chunk, &row->value, row->metric,
	    row->metrics, row->node, row->nodes, row->buckets);

	key_put_row_block(bytes, &key);
	if (value.bytes > 0)
		made_put(range, (struct text){ (char *)bytes, sizeof(bytes) },
		    value);
}

/* The rows of the series from..to, which are of one block; `*piece` moves
 * behind their pieces. */
static bool
put_block(const struct pieces *pieces, uint32_t from, uint32_t to,
    uint32_t *piece, struct row *row, struct made *range)
{
	const struct read_series *first = &pieces->plan->at[from];
	uint32_t number = 0, end = *piece;
	bool good = true;

	do {
		row->metrics = 0;
		row->metric = NULL;
		for (; end < pieces->pieces; end++) {
			const struct piece *is = &pieces->piece[end];

			if (is->track != first->track ||
			    rollup_block(is->node) !=
				rollup_block(first->node) ||
			    is->number != number)
				break;
			if (is->metrics <= row->metrics)
				continue;
			row->metrics = is->metrics;
			row->metric = &pieces->metric[is->first];
		}
		list_nodes(pieces->plan, from, to, number == 0, row);
		good = fill_nodes(pieces, *piece, end, row);
		if (good)
			put_row(pieces->plan, from, number, row, range);
		for (uint32_t k = 0; k < row->nodes; k++)
			free(row->node[k].bucket);
		*piece = end;
		number++;
	} while (good && end < pieces->pieces &&
		 pieces->piece[end].track == first->track &&
		 rollup_block(pieces->piece[end].node) ==
		     rollup_block(first->node) &&
		 pieces->piece[end].number == number);
	return good;
}

static int
put_rows(struct pieces *pieces, struct made *range, struct err *err)
{
	const struct read_plan *plan = pieces->plan;
	struct row row = { .chunk = chunk_writer_new(),
		.buckets =
		    (uint32_t)(KEY_HOUR_NS / rollup_step_ns(plan->step)) };
	uint32_t end = pieces->from + pieces->count, piece = 0, to;
	bool good = true;

	if (pieces->pieces > 1)
		qsort(pieces->piece, pieces->pieces, sizeof(*pieces->piece),
		    compare_pieces);
	for (uint32_t from = pieces->from; from < end && good; from = to) {
		for (to = from; to < end; to++)
			if (plan->at[to].track != plan->at[from].track ||
			    rollup_block(plan->at[to].node) !=
				rollup_block(plan->at[from].node))
				break;
		good = put_block(pieces, from, to, &piece, &row, range);
	}
	chunk_writer_free(&row.chunk);
	buffer_clear(&row.value);
	return good ? 0
		    : err_set(err, "archive: rollups of an hour do not fit "
				   "together");
}

int
read_rollup_rows(struct archive_read *read, const char *where, uint32_t answers,
    uint32_t from, uint32_t count, struct made *range, struct err *err)
{
	struct pieces pieces = {
		.plan = &read->plan, .from = from, .count = count
	};
	int rc = 0;

	for (uint32_t i = 0; i < answers && rc == 0; i++) {
		char *some =
		    memory_format("%s AND step = %d AND bucket %% %u = %u",
			where, (int)read->plan.step, answers, i);

		rc = fetch_typed(&read->fetch, &schema_tables[SCHEMA_ROLLUPS],
		    some, take_piece, &pieces, err);
		free(some);
	}
	if (rc == 0)
		rc = put_rows(&pieces, range, err);
	free(pieces.piece);
	free(pieces.metric);
	free(pieces.at);
	return rc;
}
