/*
 * prometheus_page - the numbers of a page in Prometheus' text format.
 * SPDX-License-Identifier: MIT
 */
#include "agents/submit/prometheus_page.h"

#include <assert.h>
#include <string.h>

#include "proto/metric/prometheus.h"
#include "proto/metric/sample_page.h"

/* Of a definition and a sample, besides properties and values. */
enum { FRAME_BYTES = 2 * NAME_BYTES_MAX + 64 };

bool
prometheus_page_has_times(struct text text)
{
	struct prometheus_sample sample;
	struct prometheus reader;
	struct err err;
	int rc;

	prometheus_begin(&reader, text);
	while ((rc = prometheus_next(&reader, &sample, &err)) != 0)
		if (rc > 0 && sample.has_time)
			return true;
	return false;
}

/* Numbers that are there twice are shown up to this number: finding the text of
 * one takes as long as the page. */
enum { TWICE_SHOWN = 16 };

/* The text of line `number`. */
static struct text
line_of(const struct prometheus_page *page, uint64_t number)
{
	struct text rest = page->text, line = { NULL, 0 };

	while (number-- > 0 && text_next_line(&rest, &line))
		;
	return text_trim(line);
}

/* The text of the line that was read last. */
static struct text
line_before(const struct prometheus_page *page, struct text rest)
{
	const char *begin = page->text.at;
	struct text line = { rest.at, 0 };

	/* Its newline; the last line may have none. */
	if (line.at > begin && line.at[-1] == '\n')
		line.at--;
	for (; line.at > begin && line.at[-1] != '\n'; line.bytes++)
		line.at--;
	return text_trim(line);
}

static void
leave_out(struct prometheus_page *page, uint64_t line, struct text text,
    const char *reason, const struct err *err)
{
	page->bad++;
	if (page->on_bad != NULL)
		page->on_bad(page->arg, line, text, reason, err);
}

static void
on_twice(void *arg, uint64_t line, const struct err *err)
{
	struct prometheus_page *page = arg;
	struct text text = { NULL, 0 };

	if (page->on_bad != NULL && page->bad < TWICE_SHOWN)
		text = line_of(page, line);
	leave_out(page, line, text, "twice", err);
}

enum submit_result
prometheus_page_add(struct submit *submit, struct compose *compose,
    const struct dynamic_group *group, struct err *err)
{
	size_t bytes = group->definition.pairs.bytes +
		       group->sample.value_bytes.bytes + FRAME_BYTES;
	/* Both travel together: without its definition a sample says nothing.
	 */
	enum submit_result result = submit_reserve(submit, bytes, err);

	if (result != SUBMIT_DONE)
		return result;
	compose_record(compose, &group->definition);
	result = submit_add(submit, compose, err);
	if (result != SUBMIT_DONE)
		return result;
	compose_record(compose, &group->sample);
	return submit_add(submit, compose, err);
}

static int
on_group(void *arg, const struct dynamic_group *group)
{
	struct prometheus_page *page = arg;

	page->numbers += group->numbers;
	return page->on_group(page->arg, group);
}

static bool
has_label(const struct prometheus_sample *sample, struct text key)
{
	for (uint32_t i = 0; i < sample->labels; i++)
		if (text_equal(sample->label[i].key, key))
			return true;
	return false;
}

static int
take_sample(const struct prometheus_page *page, struct sample_page *samples,
    const struct prometheus_sample *sample, uint64_t line, struct err *err)
{
	struct dynamic_label
	    label[DYNAMIC_LABELS_MAX + PROMETHEUS_PAGE_LABELS_MAX];

	uint32_t labels = sample->labels;

	memcpy(label, sample->label, sample->labels * sizeof(*label));
	for (uint32_t i = 0; i < page->labels; i++)
		if (!page->own_first || !has_label(sample, page->label[i].key))
			label[labels++] = page->label[i];
	return sample_page_add(samples, &sample->number, label, labels,
	    sample->has_time ? sample->time_ns : page->time_ns, line, err);
}

static void
take_samples(struct prometheus_page *page, struct sample_page *samples)
{
	struct prometheus_sample sample;
	struct prometheus reader;
	struct err err;
	int rc;

	prometheus_begin(&reader, page->text);
	while ((rc = prometheus_next(&reader, &sample, &err)) != 0) {
		if (rc < 0) {
			leave_out(page, reader.line,
			    line_before(page, reader.rest), "syntax", &err);
			continue;
		}
		if ((sample.is_bucket && !page->buckets) ||
		    (page->wants != NULL &&
			!page->wants(page->arg, sample.number.name)))
			continue;
		if (take_sample(page, samples, &sample, reader.line, &err) != 0)
			leave_out(page, reader.line,
			    line_before(page, reader.rest), "name", &err);
	}
}

int
prometheus_page_read(struct prometheus_page *page)
{
	const struct sample_page_calls calls = { page, on_group, on_twice };
	struct sample_page *samples;
	int rc;

	assert(page->labels <= PROMETHEUS_PAGE_LABELS_MAX);
	page->numbers = page->bad = 0;
	sample_page_new(&samples);
	take_samples(page, samples);
	rc = sample_page_groups(samples, page->origin, page->boot, &calls);
	sample_page_free(&samples);
	return rc;
}
