/*
 * timeline - make the trace fit --max-size.
 *
 * Whole nodes are left out first: of all nodes, the worst one first, each stays
 * that still fits.  If not even the worst node fits, its time is cut.  Leaving
 * records out also changes the size of the others a little, so the bytes are
 * counted again until the trace fits.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline/timeline_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"

enum { TRIES_MAX = 60, NAMED_MAX = 3, ENOUGH_PERCENT = 90 };

/* What a count says. */
struct counted {
	struct size_limit *limit; /* NULL: nothing was counted yet */
	uint64_t bytes, max;
};

static int
count_once(struct timeline *t, const struct trace_request *request,
    uint64_t *bytes, struct err *err)
{
	struct byte_stream byte_stream;
	int rc = byte_stream_begin(&byte_stream, NULL, BYTE_STREAM_PLAIN,
	    (struct text){ NULL, 0 }, err);

	if (rc != 0)
		return -1;
	rc = timeline_write_pass(t, request, &byte_stream, bytes, err);
	if (byte_stream_end(&byte_stream, rc == 0 ? err : NULL) != 0)
		rc = -1;
	return rc;
}

/* Count the bytes of what is in the trace now; sections are from `from_ns` to
 * the end of the trace. */
static int
count(struct timeline *t, const struct trace_request *request,
    struct counted *counted, int64_t from_ns, struct err *err)
{
	int rc;

	if (counted->limit == NULL)
		counted->limit = memory_alloc(sizeof(*counted->limit));
	else
		size_limit_clear(counted->limit);
	size_limit_init(counted->limit, from_ns, t->time_window.to_ns);
	t->limit = counted->limit;
	rc = count_once(t, request, &counted->bytes, err);
	t->limit = NULL;
	return rc;
}

/* ---- nodes ---- */

static void
swap_tables(struct string_table *a, struct string_table *b)
{
	struct string_table old = *a;

	*a = *b;
	*b = old;
}

/* All nodes that were counted, the worst one first; those without phases and
 * spans last, as they came. */
static int
rank_nodes(struct timeline *t, const struct counted *counted, struct err *err)
{
	const struct string_table *nodes = &counted->limit->nodes;

	if (t->chosen_only)
		return 0;
	if (timeline_choose_worst(t, UINT64_MAX, err) != 0)
		return -1;
	for (uint32_t i = 0; i < nodes->count; i++)
		(void)string_table_add(&t->chosen, nodes->names[i]);
	t->nodes = t->chosen.count;
	return 0;
}

/* Leave out the nodes that do not fit, at least one. */
static void
leave_out_nodes(struct timeline *t, const struct counted *counted)
{
	struct string_table fit, fewer;
	uint32_t before = t->chosen.count;

	string_table_init(&fit);
	string_table_init(&fewer);
	size_limit_nodes(
	    counted->limit, &t->chosen, counted->bytes, counted->max, &fit);
	if (fit.count == 0) {
		(void)string_table_add(&fit, t->chosen.names[0]);
	} else if (fit.count == before) {
		for (uint32_t i = 0; i + 1 < fit.count; i++)
			(void)string_table_add(&fewer, fit.names[i]);
		swap_tables(&fit, &fewer);
	}
	swap_tables(&fit, &t->chosen);
	string_table_clear(&fit);
	string_table_clear(&fewer);
}

/* ---- time ---- */

static void
end_at(struct timeline *t, int64_t end_ns)
{
	t->time_window.to_ns = t->cut_ns = t->end_ns = end_ns;
}

/* Cut the time so that what is left fits, and fills the size well: `counted`
 * has the sections of the whole time, which does not fit. */
static int
cut_time(struct timeline *t, const struct trace_request *request,
    struct counted *counted, struct err *err)
{
	/* What ends at `fits_ns` fits, what ends at `over_ns` does not. */
	int64_t fits_ns = t->time_window.from_ns;
	int64_t over_ns = t->time_window.to_ns;
	uint64_t records = 0; /* that begin before `fits_ns` */

	for (int i = 0; i < TRIES_MAX && over_ns - fits_ns > 1; i++) {
		int64_t end_ns = size_limit_time(
		    counted->limit, counted->bytes, counted->max);

		end_at(t, end_ns);
		if (count(t, request, counted, fits_ns, err) != 0)
			return -1;
		if (counted->bytes > counted->max) {
			over_ns = end_ns;
			continue;
		}
		fits_ns = end_ns;
		records = t->written;
		if (counted->bytes >= counted->max / 100 * ENOUGH_PERCENT ||
		    over_ns - fits_ns == 1)
			break;
		/* Much of the size is left: look where the next section, which
		 * is too large, can be divided. */
		end_at(t, over_ns);
		if (count(t, request, counted, fits_ns, err) != 0)
			return -1;
	}
	if (records == 0)
		return err_set_option(
		    err, "max-size", "is too small for any record");
	end_at(t, fits_ns);
	return 0;
}

/* ---- both ---- */

/* "8 of 10 nodes are left out, the worst of them a, b, c" */
static void
say_nodes(char to[static TIMELINE_WARNING_BYTES],
    const struct string_table *all, const struct string_table *kept)
{
	uint32_t named = 0, number;
	int used = snprintf(to, TIMELINE_WARNING_BYTES,
	    "%" PRIu32 " of %" PRIu32 " nodes are left out, the worst of them ",
	    all->count - kept->count, all->count);

	for (uint32_t i = 0; i < all->count && named < NAMED_MAX; i++) {
		struct text name = all->names[i];

		if (string_table_find(kept, name, &number))
			continue;
		used += snprintf(to + used,
		    (size_t)(TIMELINE_WARNING_BYTES - used), "%s%.*s",
		    named > 0 ? ", " : "", (int)name.bytes, name.at);
		named++;
	}
}

static void
say_time(char to[static TIMELINE_WARNING_BYTES], int64_t to_ns)
{
	size_t used = strlen(to);
	char text[CLOCK_TEXT_BYTES];

	clock_text(text, to_ns, 9);
	snprintf(to + used, TIMELINE_WARNING_BYTES - used,
	    "%srecords from %s on are left out; use --from %s for the rest",
	    used > 0 ? "; " : "", text, text);
}

int
timeline_make_fit(struct timeline *t, const struct trace_request *request,
    char warning[static TIMELINE_WARNING_BYTES], struct err *err)
{
	struct counted counted = { .max = request->timeline->max_bytes };
	int64_t from_ns = t->time_window.from_ns, to_ns = t->time_window.to_ns;
	struct string_table all;
	int rc;

	string_table_init(&all);
	rc = count(t, request, &counted, from_ns, err);
	if (rc == 0 && counted.bytes > counted.max)
		rc = rank_nodes(t, &counted, err);
	for (uint32_t i = 0; rc == 0 && i < t->chosen.count; i++)
		(void)string_table_add(&all, t->chosen.names[i]);
	while (rc == 0 && counted.bytes > counted.max && t->chosen.count > 1) {
		leave_out_nodes(t, &counted);
		rc = count(t, request, &counted, from_ns, err);
	}
	if (rc == 0 && t->chosen.count < all.count)
		say_nodes(warning, &all, &t->chosen);
	if (rc == 0 && counted.bytes > counted.max) {
		rc = cut_time(t, request, &counted, err);
		if (rc == 0 && t->time_window.to_ns < to_ns)
			say_time(warning, t->time_window.to_ns);
	}
	if (counted.limit != NULL)
		size_limit_clear(counted.limit);
	free(counted.limit);
	string_table_clear(&all);
	return rc;
}
