/*
 * series - tests of aggregator/query/series/series.h: buckets equal those of a
 * slow pass over the samples, for any step, page size and order of arrival.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/series/series.h"

#include <math.h>

#include "tests/unit/aggregator/pool.h"

enum { NODES = 5, SETS = 2, METRICS = 4, SAMPLES = 4000 };
#define SECOND INT64_C(1000000000)

static const struct counter_rate_column column; /* of no time */

static const char *const set_names[SETS] = { "cores", "drive/sda" };
static const char *const metric_names[SETS][METRICS] = {
	{ "poolscope.boot", "cpu.user", "cpu.idle", "cpu.load" },
	{ "poolscope.boot", "disk.read", "disk.queue", "disk.write" },
};
static const char *const type_names[SETS] = { "gauge counter counter gauge",
	"gauge counter gauge counter" };
static const bool counters[SETS][METRICS] = { { 0, 1, 1, 0 }, { 0, 1, 0, 1 } };

struct sample {
	int64_t time_ns;
	unsigned node, set;
	struct value values[METRICS];
};
static struct sample samples[SAMPLES];
static unsigned made; /* of them */

static void
define_group(const char *name, const char *names, const char *types)
{
	unsigned char pairs[512];
	struct wire_writer w;
	struct record entity = { .kind = RECORD_ENTITY,
		.source = text_of("set"),
		.name = text_of(name),
		.attributes = 2 };

	wire_writer_init(&w, pairs, sizeof(pairs));
	wire_put_text_attribute(&w, text_of("names"), text_of(names));
	wire_put_text_attribute(&w, text_of("types"), text_of(types));
	entity.pairs = (struct text){ (const char *)pairs, (uint32_t)w.bytes };
	rig_record(&rig, "node-0", &entity);
}

static void
define_groups(void)
{
	for (unsigned set = 0; set < SETS; set++) {
		char names[256] = "";

		for (unsigned i = 0; i < METRICS; i++) {
			strcat(names, i ? " " : "");
			strcat(names, metric_names[set][i]);
		}
		define_group(set_names[set], names, type_names[set]);
	}
	rig_send(&rig, 0);
}

static void
put_sample(const char *node, const char *set, int64_t time_ns,
    const struct value *values, uint32_t count_of)
{
	unsigned char bytes[512];
	struct wire_writer w;
	struct record record = { .kind = RECORD_SAMPLE,
		.time_ns = time_ns,
		.source = text_of(set),
		.values = count_of };

	wire_writer_init(&w, bytes, sizeof(bytes));
	for (uint32_t i = 0; i < count_of; i++)
		wire_put_value(&w, &values[i]);
	record.value_bytes =
	    (struct text){ (const char *)bytes, (uint32_t)w.bytes };
	rig_record(&rig, node, &record);
}

static struct value
whole(uint64_t n)
{
	return (struct value){ VALUE_INT, { .i = (int64_t)n } };
}

static struct value
real(double f)
{
	return (struct value){ VALUE_FLOAT, { .f = f } };
}

/* Over three hours, with reboots, wraps and missing values. */
static void
make_samples(uint64_t *random)
{
	made = check_share(SAMPLES, 1000);
	for (unsigned i = 0; i < made; i++) {
		struct sample *s = &samples[i];
		uint64_t r = check_random(random);

		s->node = (unsigned)(r % NODES);
		s->set = (unsigned)(r >> 8 & 1);
		/* No two samples have the same time. */
		s->time_ns = RIG_T0 + (int64_t)(r >> 16) % (3 * KEY_HOUR_NS);
		s->time_ns -= s->time_ns % (SAMPLES * 1000) - i * 1000;
		s->values[0] = whole(7 + (r >> 40) % 50 / 49);
		for (unsigned k = 1; k < METRICS; k++) {
			uint64_t v = check_random(random);

			if (v % 13 == 0)
				s->values[k].type = VALUE_NIL;
			else if (v % 13 == 1)
				s->values[k] = real(NAN);
			else if (v % 3 == 0)
				s->values[k] = real((double)(v % 1000) / 8);
			else
				s->values[k] = whole(v >> (v & 31) >> 24);
		}
	}
}

static void
send_samples(uint64_t *random)
{
	for (unsigned i = 0; i < made; i++) {
		char node[16];

		snprintf(node, sizeof(node), "node-%u", samples[i].node);
		put_sample(node, set_names[samples[i].set], samples[i].time_ns,
		    samples[i].values, METRICS);
		if (i + 1 == made || check_random(random) % 40 == 0)
			rig_send(
			    &rig, (unsigned)(check_random(random) % SESSIONS));
		if (check_random(random) % 700 == 0)
			rig_indexer(&rig);
	}
	rig_indexer(&rig);
}

/* ---- the slow pass ---- */

static int
by_sample_time(const void *left, const void *right)
{
	const struct sample *a = left, *b = right;

	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

/* The first sample at or after a time. */
static unsigned
first_at(int64_t time_ns)
{
	unsigned low = 0, high = made;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (samples[middle].time_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
oracle_bucket(FILE *out, unsigned node, unsigned set, unsigned metric,
    int64_t begin, int64_t step, const struct wire_query *query)
{
	int64_t from = begin > query->from_ns ? begin : query->from_ns;
	int64_t to = begin + step < query->to_ns ? begin + step : query->to_ns;
	struct counter_rate_sample before = { .value = { .type = VALUE_NIL } },
				   now;
	bool counter = counters[set][metric];
	double low = NAN, high = NAN, sum = 0, seconds = 0;
	struct counter_rate_sample first = before, last = before;
	uint64_t found = 0;

	/* The samples are in time order. */
	for (unsigned i = first_at(from); i < made && samples[i].time_ns < to;
	     i++) {
		const struct sample *s = &samples[i];
		double v = counter_rate_number(&s->values[metric]);
		struct counter_rate counter_rate;

		if (s->node != node || s->set != set || isnan(v))
			continue;
		now = (struct counter_rate_sample){ s->time_ns,
			(uint64_t)s->values[0].is.i, s->values[metric] };
		counter_rate = counter_rate_between(&column, &before, &now);
		if (counter)
			v = counter_rate.seconds > 0
				? counter_rate.increase / counter_rate.seconds
				: NAN;
		low = fmin(low, v);
		high = fmax(high, v);
		sum += counter ? counter_rate.increase : v;
		seconds += counter_rate.seconds;
		first = found++ == 0 ? now : first;
		last = before = now;
	}
	if (found == 0)
		return;
	fprintf(out, "sample node-%u %lld..%lld [%s|%s|raw] 0 %llu", node,
	    (long long)begin, (long long)(begin + step), set_names[set],
	    metric_names[set][metric], (unsigned long long)found);
	fprintf(out, " %lld %lld %llu %llu %.17g %.17g %.17g",
	    (long long)first.time_ns, (long long)last.time_ns,
	    (unsigned long long)first.boot, (unsigned long long)last.boot, low,
	    high, counter ? sum : sum / (double)found);
	if (counter)
		fprintf(out, " %.17g", seconds);
	fputc(' ', out);
	rig_line_value(out, &first.value);
	fputc(' ', out);
	rig_line_value(out, &last.value);
	fputc('\n', out);
}

static char *
oracle(const struct wire_query *query, int64_t step)
{
	int64_t begin = samples[0].time_ns - samples[0].time_ns % step;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	for (; begin <= samples[made - 1].time_ns; begin += step)
		for (unsigned node = 0;
		     samples[first_at(begin)].time_ns < begin + step &&
		     node < NODES;
		     node++)
			for (unsigned m = 0; m < SETS * METRICS; m++) {
				const char *metric =
				    metric_names[m / METRICS][m % METRICS];
				char name[16];

				snprintf(name, sizeof(name), "node-%u", node);
				if (m % METRICS == 0 ||
				    begin + step <= query->from_ns ||
				    begin >= query->to_ns ||
				    (query->columns.bytes > 0 &&
					!text_match(
					    query->columns, text_of(metric))) ||
				    (query->node.bytes > 0 &&
					!text_match(
					    query->node, text_of(name))))
					continue;
				oracle_bucket(out, node, m / METRICS,
				    m % METRICS, begin, step, query);
			}
	fclose(out);
	return sorted_lines(text);
}

/* The printed sign of NaN does not matter. */
static char *
without_signs(char *lines)
{
	char *from = lines, *to = lines;

	for (; *from != '\0'; from++)
		if (strncmp(from, "-nan", 4) != 0)
			*to++ = *from;
	*to = '\0';
	return lines;
}

static char *
read_buckets(struct wire_query query)
{
	uint64_t records;

	return without_signs(sorted_lines(
	    without_ids(rig_read(&rig, RIG_SELECT, query, &records))));
}

static struct wire_query
bucket_query(int64_t step_ns)
{
	struct wire_query query = rig_query(1u << RECORD_SAMPLE, 0);

	query.step_ns = step_ns;
	return query;
}

static void
fill(uint64_t *random)
{
	define_groups();
	make_samples(random);
	send_samples(random);
	qsort(samples, made, sizeof(*samples), by_sample_time);
}

static void
buckets_are_what_the_samples_were(void **state)
{
	static const int64_t steps[] = { 10, 60, 300, 600, 1800, 3600 };
	uint64_t random = check_seed();

	fill(&random);
	for (unsigned i = 0; i < 6; i++) {
		struct wire_query query = bucket_query(steps[i] * SECOND);

		assert_same(read_buckets(query),
		    without_signs(oracle(&query, query.step_ns)));
	}
}

static void
nodes_metrics_and_times_are_selected(void **state)
{
	static const char *const columns[] = { "", "cpu.*", "disk.read", "*e*",
		"none", "poolscope.boot" };
	static const char *const nodes[] = { "", "node-3", "node-?", "none" };
	static const int64_t steps[] = { 600 * SECOND, SECOND / 10, 72 * SECOND,
		SECOND, 1800 * SECOND };
	uint64_t random = check_seed();

	fill(&random);
	for (unsigned i = 0; i < 24; i++) {
		struct wire_query query = bucket_query(steps[i % 5]);

		query.columns = text_of(columns[i % 6]);
		query.node = text_of(nodes[i % 4]);
		/* Any times: buckets have what lies in the window. */
		query.from_ns = samples[check_random(&random) % made].time_ns;
		query.to_ns = query.from_ns + (int64_t)(check_random(&random) %
							(7200 * SECOND));
		assert_same(read_buckets(query),
		    without_signs(oracle(&query, query.step_ns)));
	}
}

static void
pages_of_any_size_give_the_same_buckets(void **state)
{
	uint64_t random = check_seed(), records, again;
	struct wire_query query = bucket_query(300 * SECOND);
	char *whole_answer;

	fill(&random);
	whole_answer = rig_read(&rig, RIG_SELECT, query, &records);
	for (uint32_t size = 1; size < 100000; size = 5 * size + 777) {
		query.page_bytes = size;
		assert_same(rig_read(&rig, RIG_SELECT, query, &again),
		    strdup(whole_answer));
	}
	free(whole_answer);
}

/* Consecutive steps of a metric, as a few records. */
static void
a_record_of_many_buckets_equals_as_many_records(void **state)
{
	static const uint32_t runs[] = { 0, 1, 2, 7, 300, UINT32_MAX };
	static const uint32_t sizes[] = { 0, 1, 20000 };
	uint64_t random = check_seed(), records, fewer;
	struct wire_query query = bucket_query(60 * SECOND);
	char *whole_answer;

	fill(&random);
	whole_answer = rig_read(&rig, RIG_SELECT, query, &records);
	for (unsigned i = 0; i < 18; i++) {
		query.per_record = runs[i % 6];
		query.page_bytes = sizes[i / 6];
		assert_same(rig_read(&rig, RIG_SELECT, query, &fewer),
		    strdup(whole_answer));
		assert_true(
		    query.per_record < 2 ? fewer == records : fewer < records);
	}
	free(whole_answer);
}

/* A sample a second, most of them alone in their step, of one boot and type. */
static void
samples_that_are_alone_say_the_same_in_cells(void **state)
{
	uint64_t random = check_seed(), records, fewer;
	struct wire_query query = bucket_query(SECOND);
	struct value values[METRICS + 1];
	char *one_by_one;

	define_groups();
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t r = check_random(&random);

		values[0] = whole(i < 1700 ? 7 : 8);
		for (unsigned k = 1; k < METRICS; k++)
			values[k] = k % 2 == 1 ? whole(i * k)
					       : real((double)i / k - 100);
		if (r % 101 == 0)
			values[1 + r / 101 % (METRICS - 1)].type = VALUE_NIL;
		if (r % 103 == 0)
			values[1 + r / 103 % (METRICS - 1)] = real(-0.0);
		if (r % 107 == 0)
			values[1 + r / 107 % (METRICS - 1)] =
			    (struct value){ VALUE_UINT, { .u = UINT64_MAX } };
		if (r % 109 == 0)
			values[1 + r / 109 % (METRICS - 1)] = real(INFINITY);
		for (unsigned k = 0; k < 1 + (r >> 40) % 50 / 49; k++)
			put_sample("node-1", set_names[0],
			    RIG_T0 + (int64_t)i * SECOND + k * 1000, values,
			    METRICS);
		if (i % 500 == 499) {
			rig_send(&rig, 0);
			rig_indexer(&rig);
		}
	}
	query.page_bytes = 100000;
	one_by_one = rig_read(&rig, RIG_SELECT, query, &records);
	query.per_record = UINT32_MAX;
	assert_same(
	    rig_read(&rig, RIG_SELECT, query, &fewer), strdup(one_by_one));
	assert_true(20 * fewer < records);
	free(one_by_one);
}

/* Of 1,000 consecutive steps, as many as a sample may have values. */
static void
a_record_of_buckets_ends_at_an_empty_step_and_at_its_limit(void **state)
{
	struct wire_query query = bucket_query(1);
	struct value values[METRICS + 1] = { { .type = VALUE_NIL } };
	uint64_t records;

	define_groups();
	values[3] = whole(5);
	for (int64_t i = 0; i < 1000; i++)
		put_sample("node-1", "cores",
		    RIG_T0 + (i + (i >= 400)) * SECOND / 10, values, METRICS);
	rig_send(&rig, 0);
	rig_indexer(&rig);
	query.per_record = UINT32_MAX;
	free(rig_read(&rig, RIG_SELECT, query, &records));
	/* 400 and 600 steps, at most 372 in a record. */
	assert_int_equal(records, 2 + 2);
	query.per_record = 100;
	free(rig_read(&rig, RIG_SELECT, query, &records));
	assert_int_equal(records, 4 + 6);
}

/* With a short step, the buckets of a series block take several pages. */
static void
a_series_block_that_does_not_fit_continues_in_the_next_page(void **state)
{
	struct wire_query query = bucket_query(1);
	struct value values[METRICS + 1] = { { .type = VALUE_NIL } };
	uint64_t records;
	char *lines;

	define_groups();
	values[1] = values[2] = values[3] = whole(5);
	for (unsigned i = 0; i < 1000; i++)
		put_sample("node-1", "cores", RIG_T0 + i * SECOND / 4, values,
		    METRICS);
	rig_send(&rig, 0);
	rig_indexer(&rig);
	lines = rig_read(&rig, RIG_SELECT, query, &records);
	assert_int_equal(records, 3 * 1000);
	assert_non_null(
	    strstr(lines, "..1508000000100000000 [cores|cpu.user|"));
	free(lines);
}

/* Only the steps of the window take room in a page, and time. */
static void
a_short_window_needs_no_more_pages_by_a_short_step(void **state)
{
	uint64_t random = check_seed(), records;
	struct wire_query query = bucket_query(SECOND / 10);
	char *lines;

	(void)state;
	fill(&random);
	query.from_ns = samples[made / 2].time_ns;
	query.to_ns = query.from_ns + 600 * SECOND;
	lines = rig_read(&rig, RIG_SELECT, query, &records);
	assert_true(records > 0);
	assert_int_equal(rig.pages, 1);
	free(lines);
}

static void
steps_that_do_not_divide_an_hour_are_rounded_up(void **state)
{
	static const int64_t steps[][2] = { { 1, 100000000 },
		{ 100000001, 200000000 }, { 300000000, 500000000 },
		{ 600000000, SECOND }, { SECOND, SECOND },
		{ 7 * SECOND, 8 * SECOND }, { 59 * SECOND, 60 * SECOND },
		{ 61 * SECOND, 72 * SECOND }, { 1801 * SECOND, 3600 * SECOND },
		{ INT64_MAX, 3600 * SECOND } };
	struct wire_query query = bucket_query(0), fitted;

	query.from_ns = RIG_T0 + 3;
	query.to_ns = RIG_T0 + 5;
	assert_false(series_asked(&query, &fitted));
	for (unsigned i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		query.step_ns = steps[i][0];
		assert_true(series_asked(&query, &fitted));
		assert_true(fitted.step_ns == steps[i][1]);
		assert_int_equal(KEY_HOUR_NS % fitted.step_ns, 0);
		assert_true(fitted.from_ns == query.from_ns);
		assert_true(fitted.to_ns == query.to_ns);
	}
}

static void
a_sample_may_lack_the_last_columns_but_has_no_unknown_ones(void **state)
{
	struct value values[METRICS + 1] = { { .type = VALUE_NIL } };
	uint64_t records;

	put_sample("node-1", "cores", RIG_T0, values, METRICS);
	rig_send(&rig, 0);
	rig_indexer(&rig);
	free(rig_read(&rig, RIG_SELECT, bucket_query(SECOND), &records));
	assert_int_equal(records, 0);
	define_groups();
	values[1] = whole(3);
	/* Four columns are defined: the second and third sample are read. */
	put_sample("node-1", "cores", RIG_T0 + 1 * SECOND, values, METRICS + 1);
	put_sample("node-1", "cores", RIG_T0 + 2 * SECOND, values, METRICS - 1);
	put_sample("node-1", "cores", RIG_T0 + 3 * SECOND, values, METRICS);
	rig_send(&rig, 0);
	rig_indexer(&rig);
	free(rig_read(&rig, RIG_SELECT, bucket_query(SECOND), &records));
	assert_int_equal(records, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(buckets_are_what_the_samples_were),
		CASE(nodes_metrics_and_times_are_selected),
		CASE(pages_of_any_size_give_the_same_buckets),
		CASE(a_record_of_many_buckets_equals_as_many_records),
		CASE(samples_that_are_alone_say_the_same_in_cells),
		CASE(
		    a_record_of_buckets_ends_at_an_empty_step_and_at_its_limit),
		CASE(
		    a_series_block_that_does_not_fit_continues_in_the_next_page),
		CASE(a_short_window_needs_no_more_pages_by_a_short_step),
		CASE(steps_that_do_not_divide_an_hour_are_rounded_up),
		CASE(
		    a_sample_may_lack_the_last_columns_but_has_no_unknown_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
