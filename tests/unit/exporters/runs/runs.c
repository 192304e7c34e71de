/*
 * runs - tests of what readers make of runs: pages, rows, groups, skew and
 * days, of a made-up bakery, against what was sent.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/runs.h"

#include "exporters/runs/clock_skew.h"
#include "exporters/runs/charts.h"
#include "exporters/runs/groups.h"
#include "exporters/runs/page_picture.h"
#include "proto/json/json_bytes.h"
#include "tests/unit/aggregator/rig.h"

static const char model[] =
    "run { attribute = \"order\" kind = \"order\" group = \"shop\" "
    "requestor = \"who\" error = \"error\" begun = \"oven:in\" "
    "ended = \"desk:handed\" properties = { \"shop\", \"who\", \"error\" } }\n"
    "phase \"whole\" { start = \"desk:ordered\" end = \"desk:handed\" "
    "scope = \"run\" run = \"order\" }\n"
    "phase \"wait\" { start = \"desk:ordered\" end = \"oven:in\" "
    "scope = \"run\" run = \"order\" }\n"
    "phase \"bake\" { start = \"oven:in\" end = \"oven:out\" "
    "scope = \"run\" run = \"order\" }\n"
    "phase \"hand\" { start = \"oven:out\" end = \"desk:handed\" "
    "scope = \"run\" run = \"order\" }\n";

enum { RUNS = 150, STEPS = 4, SERIES = 3, EVENTS = 12, NODES = 2 };
enum { WHOLE, WAIT, BAKE, HAND };
static const char *const step_names[STEPS] = { "whole", "wait", "bake",
	"hand" };
static const char *const shops[] = { "north", "south", "west" };
static const char *const people[] = { "ann", "bob", "cy" };
static const char *const nodes[NODES] = { "hall", "kitchen" };

/* What was sent of a run. */
static struct made {
	char id[24];
	bool known, error;
	int shop, who; /* -1: none */
	uint32_t events;
	struct made_event {
		const char *source, *name, *node;
		int64_t time_ns, receive_ns;
	} event[EVENTS];
} made[RUNS];

static struct rig rig;
static struct source *source;
static struct runs runs;

static int
set_up(void **state)
{
	rig_open(&rig, model);
	return 0;
}

static int
tear_down(void **state)
{
	runs_clear(&runs);
	source_close(&source);
	assert_int_equal(
	    nftw(rig.folder, rig_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
	return 0;
}

/* ---- what is sent ---- */

static void
put_event(const struct made *run, const struct made_event *event)
{
	unsigned char pairs[256];
	struct wire_writer w;
	struct record record = { .kind = RECORD_EVENT,
		.time_ns = event->time_ns,
		.source = text_of(event->source),
		.name = text_of(event->name),
		.attributes = 2 };

	wire_writer_init(&w, pairs, sizeof(pairs));
	wire_put_text_attribute(&w, text_of("order"), text_of(run->id));
	wire_put_attribute(&w, text_of("receive_ns"),
	    &(struct value){ VALUE_INT, { .i = event->receive_ns } });
	record.pairs = (struct text){ (const char *)pairs, (uint32_t)w.bytes };
	rig_record(&rig, event->node, &record);
}

static void
put_entity(const struct made *run)
{
	unsigned char pairs[256];
	struct wire_writer w;
	struct record record = { .kind = RECORD_ENTITY,
		.source = text_of("order"),
		.name = text_of(run->id) };

	wire_writer_init(&w, pairs, sizeof(pairs));
	if (run->shop >= 0) {
		wire_put_text_attribute(
		    &w, text_of("shop"), text_of(shops[run->shop]));
		record.attributes++;
	}
	wire_put_text_attribute(&w, text_of("who"), text_of(people[run->who]));
	record.attributes++;
	if (run->error) {
		wire_put_text_attribute(&w, text_of("error"), text_of("burnt"));
		record.attributes++;
	}
	record.pairs = (struct text){ (const char *)pairs, (uint32_t)w.bytes };
	rig_record(&rig, "hall", &record);
}

static void
add_event(struct made *run, const char *from, const char *name, int64_t time_ns,
    uint64_t *random)
{
	if (check_random(random) % 12 == 0)
		return; /* lost */
	run->event[run->events++] = (struct made_event){ from, name,
		nodes[check_random(random) % NODES], time_ns,
		time_ns - 500000000 +
		    (int64_t)(check_random(random) % 3000000000) };
}

/* Orders of a few days, several at one time, of which some were baked again,
 * some never handed out, some never described. */
static void
make_run(struct made *run, int number, uint64_t *random)
{
	int64_t now = RIG_T0 + (int64_t)(check_random(random) % 40) * 7200 *
				   INT64_C(1000000000);
	unsigned stage = (unsigned)(check_random(random) % 5);

	*run = (struct made){ .known = check_random(random) % 10 != 0,
		.shop = (int)(check_random(random) % 4) - 1,
		.who = (int)(check_random(random) % 3) };
	snprintf(run->id, sizeof(run->id), "order %d", number);
	run->error = run->known && check_random(random) % 6 == 0;
	add_event(run, "desk", "ordered", now, random);
	for (unsigned i = 0; stage >= 2 && i < 1 + stage % 3; i++) {
		now += 1 + (int64_t)(check_random(random) % 900000000000);
		add_event(run, "oven", "in", now, random);
		now += 1 + (int64_t)(check_random(random) % 600000000000);
		add_event(run, "oven", "out", now, random);
	}
	if (stage >= 3)
		add_event(run, "desk", "handed", now + 5000000000, random);
	/* Nothing was heard of it at all, otherwise. */
	run->known |= run->events == 0;
}

static void
send_runs(void)
{
	struct runs_options of_model = RUNS_DEFAULT;
	struct err err = { 0 };
	static char folder[sizeof(rig.folder)];
	struct source_options options;
	uint64_t random = check_seed();

	for (int i = 0; i < RUNS; i++) {
		make_run(&made[i], i, &random);
		/* An error of what nobody described is none. */
		made[i].error &= made[i].known;
		if (made[i].known)
			put_entity(&made[i]);
		for (uint32_t k = 0; k < made[i].events; k++)
			put_event(&made[i], &made[i].event[k]);
		if (rig.batch.bytes > 30000)
			rig_send(&rig, 0);
	}
	rig_send(&rig, 0);
	rig_indexer(&rig);
	writer_close(&rig.writer);
	journal_close(&rig.journal);
	snprintf(folder, sizeof(folder), "%s", rig.folder);
	options =
	    (struct source_options){ .store = folder, .clock = CLOCK_RAW };
	rig_good(source_open(&source, &options, &err), &err);
	of_model.model = "m";
	rig_good(
	    runs_open(&runs, source, text_of(RIG_PARTITION), &of_model, &err),
	    &err);
}

/* ---- what follows from it, found another way ---- */

static const char *const ends[STEPS][2] = { { "ordered", "handed" },
	{ "ordered", "in" }, { "in", "out" }, { "out", "handed" } };

static bool
has(const struct made *run, const char *name)
{
	for (uint32_t i = 0; i < run->events; i++)
		if (strcmp(run->event[i].name, name) == 0)
			return true;
	return false;
}

/* The begin that an end belongs to: backwards from it, the first event of the
 * step, if that is a begin.  NULL: none. */
static const struct made_event *
begin_of(const struct made *run, int step, uint32_t end)
{
	while (end-- > 0) {
		if (strcmp(run->event[end].name, ends[step][0]) == 0)
			return &run->event[end];
		if (strcmp(run->event[end].name, ends[step][1]) == 0)
			break;
	}
	return NULL;
}

static unsigned
made_durations(
    const struct made *run, int step, enum run_clock clock, int64_t to[EVENTS])
{
	unsigned k = 0;

	for (uint32_t i = 0; i < run->events; i++) {
		const struct made_event *end = &run->event[i], *begin;

		if (strcmp(end->name, ends[step][1]) != 0)
			continue;
		begin = begin_of(run, step, i);
		if (begin != NULL)
			to[k++] = clock == RUN_EMIT
				      ? end->time_ns - begin->time_ns
				      : end->receive_ns - begin->receive_ns;
	}
	return k;
}

static int64_t
first_of(const struct made *run)
{
	int64_t first = INT64_MAX;

	for (uint32_t i = 0; i < run->events; i++)
		if (run->event[i].time_ns < first)
			first = run->event[i].time_ns;
	return first;
}

static enum run_state
state_of(const struct made *run)
{
	return has(run, "handed") ? RUN_FINISHED
	       : has(run, "in")   ? RUN_ONGOING
				  : RUN_QUEUED;
}

static void
assert_text(struct text got, const char *want)
{
	char shown[256];

	snprintf(shown, sizeof(shown), "%.*s", (int)got.bytes, got.at);
	assert_string_equal(shown, want);
}

/* ---- tests ---- */

static void
events_and_steps_have_the_names_of_the_model(void **state)
{
	send_runs();
	assert_int_equal(runs.step_count, STEPS);
	for (int i = 0; i < STEPS; i++) {
		const struct runs_step *step = &runs.steps[i];
		char full[32];

		assert_text(step->name, step_names[i]);
		assert_int_equal(step->spans, i == WHOLE);
		/* Of two sources: with their names. */
		snprintf(full, sizeof(full), "%s:%s",
		    i == WHOLE || i == WAIT ? "desk" : "oven", ends[i][0]);
		assert_text(runs.events[step->of.begin], full);
	}
}

static void
a_model_without_runs_is_an_error_that_names_it(void **state)
{
	struct err err = { 0 };
	struct runs_options bakery = RUNS_DEFAULT;
	struct runs other;

	bakery.model = "bakery";
	send_runs();
	assert_int_equal(
	    runs_open(&other, source, text_of(RIG_PARTITION), &bakery, &err),
	    -1);
	assert_non_null(strstr(err.text, "no runs of model 'bakery'"));
	runs_clear(&other);
}

static void
runs_come_as_they_appeared_with_all_that_is_known(void **state)
{
	struct text all = { NULL, 0 };
	struct err err = { 0 };
	struct runs_run run;

	send_runs();
	rig_good(runs_select(&runs, all, all, &err), &err);
	for (int i = 0; i < RUNS; i++) {
		assert_int_equal(runs_next(&runs, &run, &err), 1);
		assert_text(run.id, made[i].id);
		assert_int_equal(run.known, made[i].known);
		assert_int_equal(run.error, made[i].error);
		assert_int_equal(run.state, state_of(&made[i]));
		assert_int_equal(run.events.count, made[i].events);
		assert_int_equal(run.has_time, made[i].events > 0);
		if (run.has_time)
			assert_true(run.time_ns == first_of(&made[i]));
		assert_text(run.group, made[i].known && made[i].shop >= 0
					   ? shops[made[i].shop]
					   : "");
	}
	assert_int_equal(runs_next(&runs, &run, &err), 0);
}

static void
one_run_and_one_group_can_be_asked_for(void **state)
{
	struct text all = { NULL, 0 };
	struct err err = { 0 };
	struct runs_run run;
	int found = 0, wanted = 0, rc;

	send_runs();
	rig_good(runs_select(&runs, text_of(made[7].id), all, &err), &err);
	assert_int_equal(runs_next(&runs, &run, &err), 1);
	assert_text(run.id, made[7].id);
	assert_int_equal(runs_next(&runs, &run, &err), 0);
	rig_good(runs_select(&runs, all, text_of("s*"), &err), &err);
	while ((rc = runs_next(&runs, &run, &err)) > 0) {
		assert_text(run.group, "south");
		found++;
	}
	assert_int_equal(rc, 0);
	for (int i = 0; i < RUNS; i++)
		wanted += made[i].known && made[i].shop == 1;
	assert_int_equal(found, wanted);
}

/* Numbers of runs, newest first: by selection, one after another. */
static unsigned
newest_first(int to[RUNS])
{
	bool taken[RUNS] = { false };
	unsigned count = 0;

	for (;;) {
		int best = -1;

		for (int i = 0; i < RUNS; i++)
			if (!taken[i] && made[i].events > 0 &&
			    (best < 0 ||
				first_of(&made[i]) >= first_of(&made[best])))
				best = i;
		if (best < 0)
			return count;
		taken[best] = true;
		to[count++] = best;
	}
}

static void
assert_bar(const struct runs_bar *bar, const struct made *run)
{
	static const int steps[SERIES] = { WAIT, BAKE, HAND };

	assert_text(bar->id, run->id);
	assert_int_equal(bar->state, state_of(run));
	for (uint32_t s = 0; s < SERIES; s++) {
		int64_t duration[EVENTS], sum = 0;
		unsigned n =
		    made_durations(run, steps[s], RUN_RECEIVE, duration);

		for (unsigned k = 0; k < n; k++)
			sum += duration[k];
		assert_int_equal(runs_bar_has(bar, s), n > 0);
		assert_true(bar->ns[s] == sum);
	}
}

static void
pages_have_every_run_once_newest_first_however_few_fit(void **state)
{
	static const uint32_t windows[] = { 20, 40, 60, 140, RUNS_WINDOW };
	int order[RUNS];
	unsigned count;

	send_runs();
	count = newest_first(order);
	for (size_t w = 0; w < sizeof(windows) / sizeof(*windows); w++) {
		struct text all = { NULL, 0 };
		struct runs_pages pages;
		struct runs_page page;
		struct err err = { 0 };
		unsigned at = 0, number = 0;
		int rc;

		runs_pages_begin(&pages, &runs, all, RUN_RECEIVE);
		assert_int_equal(pages.series_count, SERIES);
		pages.window = windows[w];
		while ((rc = runs_pages_next(&pages, &page, &err)) > 0) {
			assert_int_equal(page.number, ++number);
			assert_int_equal(page.first, at + 1);
			assert_int_equal(pages.total, count);
			assert_int_equal(page.count,
			    count - at < RUNS_PAGE ? count - at : RUNS_PAGE);
			for (uint32_t i = 0; i < page.count; i++)
				assert_bar(page.bars[i], &made[order[at++]]);
		}
		rig_good(rc, &err);
		assert_int_equal(at, count);
		runs_pages_end(&pages);
	}
}

struct seen {
	unsigned groups;
	int64_t runs;
};

static void
assert_stats(const struct runs_group *group, int step, enum run_clock clock)
{
	const struct runs_stats *got = group->stats[step][clock];
	double sum = 0, least = INFINITY, greatest = -INFINITY;
	int64_t count = 0, runs_with = 0;

	for (int i = 0; i < RUNS; i++) {
		int64_t duration[EVENTS];
		unsigned n;

		if (made[i].known != group->known ||
		    (made[i].known && made[i].shop >= 0
			    ? !text_equal(
				  group->name, text_of(shops[made[i].shop]))
			    : group->name.bytes > 0))
			continue;
		n = made_durations(&made[i], step, clock, duration);
		runs_with += n > 0;
		count += n;
		for (unsigned k = 0; k < n; k++) {
			double seconds = (double)duration[k] / 1e9;

			sum += seconds;
			least = fmin(least, seconds);
			greatest = fmax(greatest, seconds);
		}
	}
	assert_int_equal(got[RUNS_OF_ITERATION].count, count);
	assert_int_equal(got[RUNS_OF_TOTAL].count, runs_with);
	if (count == 0)
		return;
	assert_true(fabs(got[RUNS_OF_ITERATION].sum - sum) < 1e-5);
	assert_true(fabs(got[RUNS_OF_TOTAL].sum - sum) < 1e-5);
	assert_true(got[RUNS_OF_ITERATION].min == least);
	assert_true(got[RUNS_OF_ITERATION].max == greatest);
}

static int
see_group(void *arg, const struct runs_group *group, struct err *err)
{
	int64_t wanted[RUN_STATES] = { 0 }, all = 0, errors = 0, asked = 0;
	struct seen *seen = arg;
	uint32_t listed = 0;

	seen->groups++;
	seen->runs += group->runs;
	for (int i = 0; i < RUNS; i++) {
		const struct made *run = &made[i];
		const char *shop =
		    run->known && run->shop >= 0 ? shops[run->shop] : "";
		enum run_state now = state_of(run);

		if (run->known != group->known ||
		    !text_equal(group->name, text_of(shop)))
			continue;
		all++;
		errors += run->error;
		wanted[now] += !run->error;
		if (!run->known || (now != RUN_FINISHED && !run->error)) {
			assert_true(listed < group->listed_count);
			assert_text(group->listed[listed].id, run->id);
			assert_int_equal(group->listed[listed++].state, now);
		}
	}
	assert_int_equal(group->listed_count, listed);
	assert_int_equal(group->runs, all);
	assert_int_equal(group->errors, errors);
	assert_memory_equal(group->state, wanted, sizeof(wanted));
	for (int step = 0; step < STEPS; step++) {
		assert_stats(group, step, RUN_EMIT);
		assert_stats(group, step, RUN_RECEIVE);
	}
	for (uint32_t i = 0; i < group->requestor_count; i++) {
		const struct runs_requestor *r = &group->requestors[i];

		asked += r->runs;
		assert_true(i == 0 || r[-1].runs > r->runs ||
			    (r[-1].runs == r->runs &&
				text_compare(r[-1].name, r->name) < 0));
	}
	assert_int_equal(asked, group->known ? all : 0);
	return 0;
}

static void
each_group_is_what_its_runs_come_to(void **state)
{
	struct text all = { NULL, 0 };
	struct seen seen = { 0, 0 };
	struct err err = { 0 };
	uint32_t count;

	send_runs();
	rig_good(
	    runs_groups_each(&runs, all, see_group, &seen, &count, &err), &err);
	assert_int_equal(seen.groups, count);
	assert_int_equal(seen.runs, RUNS);
}

static void
errors_are_shares_the_greatest_first(void **state)
{
	struct text all = { NULL, 0 };
	struct runs_errors errors;
	struct err err = { 0 };

	send_runs();
	rig_good(runs_errors_read(&errors, &runs, all, &err), &err);
	for (uint32_t i = 0; i < errors.count; i++) {
		const struct runs_error *row = &errors.rows[i];
		double share = row->ended > 0 ? 100.0 * (double)row->errors /
						    (double)row->ended
					      : 0;

		assert_true(row->of_ended == share);
		assert_true(i == 0 || row[-1].of_ended >= row->of_ended);
	}
	runs_errors_clear(&errors);
}

static void
skew_is_that_of_two_passes_over_the_events(void **state)
{
	struct runs_skew skew = { .rows = NULL };
	struct text all = { NULL, 0 };
	struct err err = { 0 };
	uint64_t seen = 0, sent = 0;

	send_runs();
	rig_good(runs_skew_read(&skew, &runs, all, &err), &err);
	for (int i = 0; i < RUNS; i++)
		sent += made[i].events;
	for (uint32_t r = 0; r < skew.count; r++) {
		const struct runs_skew_row *row = &skew.rows[r];
		double sum = 0, squares = 0, mean = 0;
		uint64_t count = 0, negative = 0;

		for (int pass = 0; pass < 2; pass++) {
			for (int i = 0; i < RUNS; i++)
				for (uint32_t k = 0; k < made[i].events; k++) {
					const struct made_event *e =
					    &made[i].event[k];
					double s = (double)(e->receive_ns -
							    e->time_ns) /
						   1e9;
					char full[32];

					snprintf(full, sizeof(full), "%s:%s",
					    e->source, e->name);
					if (!text_equal(
						row->node, text_of(e->node)) ||
					    !text_equal(
						row->event, text_of(full)))
						continue;
					count += pass == 0;
					negative += pass == 0 && s < 0;
					sum += pass == 0 ? s : 0;
					squares += pass == 1
						       ? (s - mean) * (s - mean)
						       : 0;
				}
			mean = count > 0 ? sum / (double)count : 0;
		}
		assert_true(row->count == count && row->negative == negative);
		assert_true(fabs(runs_skew_mean(row) - mean) < 1e-9);
		assert_true(fabs(runs_skew_deviation(row, false) -
				 sqrt(squares / (double)count)) < 1e-9);
		seen += row->count;
	}
	assert_true(seen == sent);
	runs_skew_clear(&skew);
}

static void
decimals_of_any_number_read_back_as_it(void **state)
{
	uint64_t random = check_seed();

	for (unsigned i = 0; i < check_share(200000, 5000); i++) {
		int64_t value = i == 0 ? INT64_MIN : check_int64(&random);
		uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
		unsigned char got[JSON_DECIMAL_BYTES + 1];
		char want[64];
		size_t used;

		used = (size_t)snprintf(want, sizeof(want), "%s%llu.%09llu",
		    value < 0 ? "-" : "",
		    (unsigned long long)(size / 1000000000),
		    (unsigned long long)(size % 1000000000));
		while (want[used - 1] == '0')
			want[--used] = '\0';
		if (want[used - 1] == '.')
			want[--used] = '\0';
		*json_put_decimal(got, value, 1000000000) = '\0';
		assert_string_equal((char *)got, want);
	}
}

static void
days_have_the_durations_of_the_runs_that_began_on_them(void **state)
{
	struct runs_days days = { .runs = &runs, .clock = RUN_RECEIVE };
	struct err err = { 0 };
	uint64_t wanted = 0, found = 0;

	send_runs();
	days.step = &runs.steps[BAKE];
	rig_good(runs_days_read(&days, &err), &err);
	for (int i = 0; i < RUNS; i++) {
		int64_t duration[EVENTS];
		double day = floor((double)first_of(&made[i]) / 86400e9);
		unsigned n =
		    made_durations(&made[i], BAKE, RUN_RECEIVE, duration);

		wanted += n;
		for (uint32_t d = 0; d < days.count; d++)
			for (unsigned k = 0; k < n; k++)
				if ((double)days.days[d].day == day)
					assert_true((double)duration[k] / 1e9 >=
							days.days[d].least &&
						    (double)duration[k] / 1e9 <=
							days.days[d].greatest);
	}
	for (uint32_t d = 0; d < days.count; d++) {
		const struct runs_day *day = &days.days[d];

		found += day->count;
		assert_true(d == 0 || day[-1].day < day->day);
		assert_true(day->least <= day->p50 && day->p50 <= day->p90 &&
			    day->p90 <= day->greatest);
	}
	assert_true(found == wanted);
	runs_days_clear(&days);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(events_and_steps_have_the_names_of_the_model),
		CASE(a_model_without_runs_is_an_error_that_names_it),
		CASE(runs_come_as_they_appeared_with_all_that_is_known),
		CASE(one_run_and_one_group_can_be_asked_for),
		CASE(pages_have_every_run_once_newest_first_however_few_fit),
		CASE(each_group_is_what_its_runs_come_to),
		CASE(errors_are_shares_the_greatest_first),
		CASE(skew_is_that_of_two_passes_over_the_events),
		CASE(days_have_the_durations_of_the_runs_that_began_on_them),
		cmocka_unit_test(decimals_of_any_number_read_back_as_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
