/*
 * answer - an entity that the aggregator itself makes.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/page/answer.h"

void
answer_start(struct answer *answer, struct text kind, struct text id)
{
	answer->record = (struct record){
		.kind = RECORD_ENTITY, .source = kind, .name = id
	};
	wire_writer_init(&answer->w, answer->bytes, sizeof(answer->bytes));
}

void
answer_put(struct answer *answer, const char *name, const struct value *value)
{
	if (wire_put_attribute(&answer->w, text_of(name), value))
		answer->record.attributes++;
}

void
answer_put_int(struct answer *answer, const char *name, uint64_t number)
{
	answer_put(answer, name,
	    &(struct value){ VALUE_INT, { .i = (int64_t)number } });
}

static void
answer_put_seconds(struct answer *answer, const char *name, double ns)
{
	answer_put(
	    answer, name, &(struct value){ VALUE_FLOAT, { .f = ns / 1e9 } });
}

void
answer_put_word(struct answer *answer, const char *name, struct text text)
{
	answer_put(
	    answer, name, &(struct value){ VALUE_TEXT, { .text = text } });
}

void
answer_put_bool(struct answer *answer, const char *name, bool yes)
{
	answer_put(
	    answer, name, &(struct value){ VALUE_BOOL, { .boolean = yes } });
}

/* `some`: is the number known? */
static void
put_known(struct answer *answer, const char *name, bool some, double ns)
{
	if (some)
		answer_put_seconds(answer, name, ns);
	else
		answer_put(answer, name, &(struct value){ VALUE_NIL, { 0 } });
}

void
answer_put_stats(struct answer *answer, const struct duration_stats *stats)
{
	bool some = stats->sums.count > 0;

	answer_put_int(answer, "count", stats->sums.count);
	answer_put_seconds(answer, "sum", (double)stats->sums.sum);
	put_known(answer, "min", some, (double)stats->min);
	put_known(answer, "max", some, (double)stats->max);
	put_known(answer, "mean", some, duration_sums_mean(&stats->sums));
	put_known(answer, "std_population", some,
	    duration_sums_deviation(&stats->sums, false));
	put_known(answer, "std_sample", stats->sums.count > 1,
	    duration_sums_deviation(&stats->sums, true));
	put_known(answer, "p50", some, duration_stats_quantile(stats, 50));
	put_known(answer, "p90", some, duration_stats_quantile(stats, 90));
	put_known(answer, "p99", some, duration_stats_quantile(stats, 99));
}

bool
answer_append(struct page *page, struct answer *answer)
{
	answer->record.pairs = (struct text){ (const char *)answer->w.at,
		(uint32_t)answer->w.bytes };
	return page_put(page, &answer->record);
}
