/*
 * samples - submits the numbers of a command.
 * SPDX-License-Identifier: MIT
 */
#include "agents/submit/samples.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/buffer.h"
#include "proto/metric/dynamic_group.h"
#include "proto/metric/prometheus.h"
#include "proto/metric/sample_page.h"
#include "proto/os/clock.h"

enum { SHOWN_BYTES = 64 };

/* ---- options ---- */

/* "KEY=VALUE" in two. */
static int
split(const char *pair, const char *form, struct text *key, struct text *value,
    struct err *err)
{
	struct text text = text_of(pair);
	char shown[SHOWN_BYTES];

	if (strchr(pair, '=') == NULL)
		return err_set(err, "'%s' is not %s",
		    text_quote(shown, sizeof(shown), text), form);
	*key = text_before(text, '=');
	*value = text_after(text, '=');
	return 0;
}

static int
find(struct samples *samples, struct text name, struct dynamic_number **number,
    struct err *err)
{
	char shown[SHOWN_BYTES];

	for (uint32_t i = 0; i < samples->numbers; i++)
		if (text_equal(samples->number[i].name, name)) {
			*number = &samples->number[i];
			return 0;
		}
	return err_set(err, "there is no --sample of '%s'",
	    text_quote(shown, sizeof(shown), name));
}

static int
take_sample(struct samples *samples, const char *pair, struct err *err)
{
	struct dynamic_number *number = &samples->number[samples->numbers++];
	struct text value;

	*number = (struct dynamic_number){ .counter = false };
	if (split(pair, "NAME=VALUE", &number->name, &value, err) != 0)
		return -1;
	return prometheus_value(value, &number->value, err);
}

static int
take_unit(struct samples *samples, const char *pair, struct err *err)
{
	struct dynamic_number *number;
	struct text name, unit;

	if (split(pair, "NAME=UNIT", &name, &unit, err) != 0 ||
	    find(samples, name, &number, err) != 0)
		return -1;
	number->unit = unit;
	return 0;
}

static int
take_counter(struct samples *samples, const char *name, struct err *err)
{
	struct dynamic_number *number;

	if (find(samples, text_of(name), &number, err) != 0)
		return -1;
	number->counter = true;
	return 0;
}

static int
take_label(struct samples *samples, const char *pair, struct err *err)
{
	struct dynamic_label *label = &samples->label[samples->labels++];

	return split(pair, "KEY=VALUE", &label->key, &label->value, err);
}

static int
take_list(struct samples *samples, const struct opt_list *list,
    int (*take)(struct samples *samples, const char *word, struct err *err),
    const char *option, struct err *err)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (take(samples, list->at[i], err) != 0)
			return err_prefix_option(err, option);
	return 0;
}

int
samples_take(struct samples *samples, const struct samples_options *options,
    struct err *err)
{
	samples->numbers = samples->labels = 0;
	samples->time_ns = clock_wall_ns();
	if (take_list(samples, &options->samples, take_sample, "sample", err) !=
		0 ||
	    take_list(samples, &options->units, take_unit, "unit", err) != 0 ||
	    take_list(samples, &options->counters, take_counter, "counter",
		err) != 0 ||
	    take_list(samples, &options->labels, take_label, "label", err) != 0)
		return -1;
	if (options->ts != NULL && clock_parse_seconds(text_of(options->ts),
				       &samples->time_ns, err) != 0)
		return err_prefix_option(err, "ts");
	return 0;
}

/* ---- submitting ---- */

static enum submit_result
add(struct submit *submit, struct compose *compose,
    const struct dynamic_group *group, struct err *err)
{
	enum submit_result result;

	compose_record(compose, &group->definition);
	result = submit_add(submit, compose, err);
	if (result != SUBMIT_DONE)
		return result;
	compose_record(compose, &group->sample);
	return submit_add(submit, compose, err);
}

int
samples_submit(struct samples *samples, struct submit *submit,
    struct compose *compose, enum submit_result *result, struct err *err)
{
	struct dynamic_group group = {
		.origin = text_of("emit"),
		.label = samples->label,
		.number = samples->number,
		.labels = samples->labels,
		.numbers = samples->numbers,
		.time_ns = samples->time_ns,
	};

	if (dynamic_group_make(
		&group, compose->pairs, sizeof(compose->pairs), err) != 0)
		return -1;
	*result = add(submit, compose, &group, err);
	return 0;
}

/* ---- a page ---- */

struct reading {
	const char *name; /* of the page, in messages */
	struct samples_page *page;
	struct submit *submit;
	struct compose *compose;
	enum submit_result result;
	struct err *err;
};

static int
read_page(const char *path, struct buffer *text, struct err *err)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	while (fd >= 0 && text->bytes <= SAMPLES_PAGE_BYTES_MAX) {
		n = read(fd, buffer_need(text, 64 << 10), 64 << 10);
		if (n == 0 || (n < 0 && errno != EINTR))
			break;
		text->bytes += n > 0 ? (size_t)n : 0;
	}
	if (n < 0)
		err_set(err, "%s: %s", path, strerror(errno));
	if (fd >= 0 && !is_stdin)
		close(fd);
	if (n >= 0 && text->bytes > SAMPLES_PAGE_BYTES_MAX)
		return err_set(err, "%s is longer than 16 MiB", path);
	return n < 0 ? -1 : 0;
}

static void
on_bad(void *arg, uint64_t line, const struct err *err)
{
	struct reading *reading = arg;

	reading->page->bad++;
	fprintf(stderr, "%s:%llu: %s\n", reading->name,
	    (unsigned long long)line, err->text);
}

static int
on_group(void *arg, const struct dynamic_group *group)
{
	struct reading *reading = arg;

	reading->result =
	    add(reading->submit, reading->compose, group, reading->err);
	if (reading->result != SUBMIT_DONE)
		return -1;
	reading->page->numbers += group->numbers;
	return 0;
}

/* Take the samples of the text, with the labels of the options added. */
static void
take_text(struct reading *reading, struct samples *samples, bool buckets,
    struct sample_page *page, struct text text)
{
	struct dynamic_label label[DYNAMIC_LABELS_MAX + OPT_LIST_MAX];
	struct prometheus_sample sample;
	struct prometheus reader;
	struct err err;
	int rc;

	prometheus_begin(&reader, text);
	while ((rc = prometheus_next(&reader, &sample, &err)) != 0) {
		if (rc > 0 && sample.is_bucket && !buckets)
			continue;
		if (rc > 0) {
			memcpy(label, sample.label,
			    sample.labels * sizeof(*label));
			memcpy(label + sample.labels, samples->label,
			    samples->labels * sizeof(*label));
			rc = sample_page_add(page, &sample.number, label,
			    sample.labels + samples->labels,
			    sample.has_time ? sample.time_ns : samples->time_ns,
			    reader.line, &err);
		}
		if (rc < 0)
			on_bad(reading, reader.line, &err);
	}
}

enum submit_result
samples_submit_page(struct samples *samples,
    const struct samples_options *options, struct submit *submit,
    struct compose *compose, struct samples_page *counts, struct err *err)
{
	struct reading reading = {
		.name =
		    strcmp(options->page, "-") == 0 ? "stdin" : options->page,
		.page = counts,
		.submit = submit,
		.compose = compose,
		.result = SUBMIT_FAILED,
		.err = err,
	};
	const struct sample_page_calls calls = { &reading, on_group, on_bad };
	struct buffer text = { .at = NULL };
	struct sample_page *page;

	if (read_page(options->page, &text, err) == 0) {
		sample_page_new(&page);
		take_text(&reading, samples, options->buckets, page,
		    buffer_text(&text));
		reading.result = SUBMIT_DONE;
		sample_page_groups(page, text_of("prom"), &calls);
		sample_page_free(&page);
	}
	buffer_clear(&text);
	return reading.result;
}
