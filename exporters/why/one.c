/*
 * why_one - what is reported of a node, of a test run and of a job.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/why/facts.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

enum { STEPS_SAID = 4 };

static void
put_string(FILE *file, const char *name)
{
	why_put_name(file, text_of(name != NULL ? name : ""));
}

/* " OPTION 'NAME'" of a command; the caller frees it. */
static char *
option_of(const char *option, struct text name)
{
	char *to;
	size_t bytes;
	FILE *file = memory_stream(&to, &bytes);

	fprintf(file, " %s ", option);
	why_put_word(file, name);
	memory_stream_end(&file);
	return to;
}

/* ---- a node ---- */

static void
put_ready(FILE *file, const struct why_one_node *node)
{
	why_put_name(file, node->node);
	if (node->ready_ns == ANSWER_NO_NS) {
		fputs(" did not become ready in this start.", file);
		return;
	}
	fputs(" was ready ", file);
	why_put_ns(file, node->ready_ns);
	fprintf(file, " after the start, %" PRIu32 " of %" PRIu32, node->place,
	    node->of);
	if (node->of > 1) {
		fputs(" in this order, the median ", file);
		why_put_ns(file, node->median_ns);
	}
	putc('.', file);
	if (node->facts->only_path_ns > 0) {
		fputs(" Of what the pool waited for, ", file);
		why_put_ns(file, node->facts->only_path_ns);
		fputs(" were on it.", file);
	}
}

static void
say_state(struct why_sentences *all, const struct why_one_node *node)
{
	const struct why_node *state = &node->facts->nodes[0];
	char *more = option_of("-n", node->node);
	FILE *file = why_begin(all);

	fputs("It is ", file);
	put_string(file, state->state);
	if (state->attention) {
		fputs(" and needs attention: ", file);
		put_string(file, state->wrong);
	} else {
		fputs(" and needs no attention", file);
	}
	putc('.', file);
	why_end(all, WHY_NODES,
	    &(struct why_proof){ .question = "nodes",
		.more = more,
		.view = "node",
		.item = node->node,
		.time_ns = state->open_ns,
		.usual_ns = state->usual_ns });
	free(more);
}

void
why_say_node(struct why_sentences *all, const struct why_one_node *node)
{
	if (node->of > 0) {
		put_ready(why_begin(all), node);
		why_end(all, WHY_START,
		    &(struct why_proof){ .question = "stats critical",
			.view = "node",
			.item = node->node,
			.time_ns = node->ready_ns,
			.usual_ns = node->median_ns });
	}
	if (node->facts->node_count > 0)
		say_state(all, node);
	why_say_slow(all, node->facts);
	why_say_lost(all, node->lost, node->clocks);
}

/* ---- a test run ---- */

static int
by_length(const void *left, const void *right)
{
	const struct why_step *a = left, *b = right;

	return (a->seconds < b->seconds) - (a->seconds > b->seconds);
}

static void
put_step(FILE *file, const struct why_step *step, const char *usual)
{
	why_put_ns(file, (int64_t)llround(step->seconds * 1e9));
	putc(' ', file);
	put_string(file, step->name);
	if (!isnan(step->usual)) {
		fprintf(file, " (%s ", usual);
		why_put_ns(file, (int64_t)llround(step->usual * 1e9));
		putc(')', file);
	}
}

static void
put_run(FILE *file, const struct why_run *run)
{
	fputs("Run ", file);
	put_string(file, run->run);
	if (run->group != NULL) {
		fputs(" of group ", file);
		put_string(file, run->group);
	}
	fputs(run->is_error ? " ended with an error" : " is ", file);
	if (!run->is_error)
		put_string(file, run->state);
	if (run->is_error && run->error_text != NULL) {
		fputs(": ", file);
		put_string(file, run->error_text);
	}
	putc('.', file);
	if (run->first_ns != ANSWER_NO_NS) {
		fputs(" It began at ", file);
		why_put_time(file, run->first_ns);
		putc('.', file);
	}
}

void
why_say_run(struct why_sentences *all, const struct why_facts *f)
{
	char *more = option_of("--run", text_of(f->run.run));
	struct why_step steps[WHY_STEPS];
	struct why_proof proof = { .question = "stats runs",
		.more = more,
		.view = "runs",
		.item = text_of(f->run.run),
		.time_ns = ANSWER_NO_NS,
		.usual_ns = ANSWER_NO_NS };
	FILE *file;

	put_run(why_begin(all), &f->run);
	why_end(all, WHY_RUNS, &proof);
	memcpy(steps, f->run.steps, sizeof(steps));
	if (f->run.step_count > 0)
		qsort(steps, f->run.step_count, sizeof(*steps), by_length);
	file = why_begin(all);
	for (uint32_t i = 0; i < f->run.step_count && i < STEPS_SAID; i++) {
		fputs(i == 0 ? "Its time was: " : ", ", file);
		put_step(file, &steps[i], "the median of its group");
	}
	if (f->run.step_count > STEPS_SAID)
		fputs(", others were shorter", file);
	if (f->run.step_count > 0)
		putc('.', file);
	why_end(all, WHY_RUNS, &proof);
	free(more);
}

/* ---- a job ---- */

static void
put_job(FILE *file, const struct why_job *job)
{
	fputs("Job ", file);
	why_put_name(file, job->job);
	fputs(job->to_ns == TIME_MAX_NS ? " runs" : " ran", file);
	fprintf(file, " on %" PRIu32 " node%s ", job->nodes,
	    job->nodes == 1 ? "" : "s");
	if (job->to_ns == TIME_MAX_NS) {
		fputs("since ", file);
		why_put_time(file, job->from_ns);
	} else {
		why_put_times(file, job->from_ns, job->to_ns);
		fputs(", ", file);
		why_put_ns(file, job->to_ns - job->from_ns);
	}
	putc('.', file);
}

static void
put_usage(FILE *file, const struct why_usage *usage)
{
	char bytes[QUANTITY_TEXT_BYTES];

	if (!usage->is_known || isnan(usage->cpu_used))
		return;
	fprintf(file, "It used %.1f of %.1f hours of processors",
	    usage->cpu_used, usage->cpu_used + usage->cpu_unused);
	if (!isnan(usage->memory_peak))
		fprintf(file, " and at most %s of memory",
		    quantity_bytes(bytes, usage->memory_peak));
	if (!isnan(usage->pressure)) {
		fputs("; its tasks waited for a processor, memory or a disk ",
		    file);
		why_put_ns(file, (int64_t)llround(usage->pressure * 1e9));
	}
	putc('.', file);
}

static void
put_spans(FILE *file, const struct why_facts *f)
{
	for (uint32_t i = 0; i < f->span_count; i++) {
		fputs(i == 0 ? "Its spans, added up: " : ", ", file);
		put_step(file, &f->spans[i], "each, the median");
	}
	if (f->span_count > 0)
		putc('.', file);
}

void
why_say_job(struct why_sentences *all, const struct why_job *job)
{
	char *more = option_of("--job", job->job);
	struct why_proof proof = { .question = "stats usage",
		.more = more,
		.view = "",
		.time_ns = job->to_ns == TIME_MAX_NS
			       ? ANSWER_NO_NS
			       : job->to_ns - job->from_ns,
		.usual_ns = ANSWER_NO_NS };

	put_job(why_begin(all), job);
	why_end(all, WHY_RUNS, &proof);
	put_usage(why_begin(all), &job->facts->usage);
	why_end(all, WHY_RUNS, &proof);
	proof.question = "stats spans";
	proof.view = "spans";
	put_spans(why_begin(all), job->facts);
	why_end(all, WHY_RUNS, &proof);
	why_say_slow(all, job->facts);
	why_say_lost(all, job->lost, job->clocks);
	free(more);
}
