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
	*result = prometheus_page_add(submit, compose, &group, err);
	return 0;
}

/* ---- a page ---- */

/* A page on its way to the agent. */
struct passing {
	const char *name; /* of the page, in messages */
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

	while (fd >= 0 && text->bytes <= PROMETHEUS_PAGE_BYTES_MAX) {
		n = read(fd, buffer_need(text, 64 << 10), 64 << 10);
		if (n == 0 || (n < 0 && errno != EINTR))
			break;
		text->bytes += n > 0 ? (size_t)n : 0;
	}
	if (n < 0)
		err_set(err, "%s: %s", path, strerror(errno));
	if (fd >= 0 && !is_stdin)
		close(fd);
	if (n >= 0 && text->bytes > PROMETHEUS_PAGE_BYTES_MAX)
		return err_set(err, "%s is longer than 16 MiB", path);
	return n < 0 ? -1 : 0;
}

static void
on_bad(void *arg, uint64_t line, struct text text, const char *reason,
    const struct err *err)
{
	(void)text;
	(void)reason;
	fprintf(stderr, "%s:%llu: %s\n", ((struct passing *)arg)->name,
	    (unsigned long long)line, err->text);
}

static int
on_group(void *arg, const struct dynamic_group *group)
{
	struct passing *passing = arg;

	passing->result = prometheus_page_add(
	    passing->submit, passing->compose, group, passing->err);
	return passing->result == SUBMIT_DONE ? 0 : -1;
}

enum submit_result
samples_submit_page(struct samples *samples,
    const struct samples_options *options, struct submit *submit,
    struct compose *compose, struct prometheus_page *page, struct err *err)
{
	struct passing passing = {
		.name =
		    strcmp(options->page, "-") == 0 ? "stdin" : options->page,
		.submit = submit,
		.compose = compose,
		.result = SUBMIT_FAILED,
		.err = err,
	};
	struct buffer text = { .at = NULL };

	*page = (struct prometheus_page){
		.origin = text_of("prom"),
		.label = samples->label,
		.labels = samples->labels,
		.time_ns = samples->time_ns,
		.buckets = options->buckets,
		.arg = &passing,
		.on_group = on_group,
		.on_bad = on_bad,
	};
	if (read_page(options->page, &text, err) == 0) {
		page->text = buffer_text(&text);
		passing.result = SUBMIT_DONE;
		prometheus_page_read(page);
	}
	buffer_clear(&text);
	return passing.result;
}
