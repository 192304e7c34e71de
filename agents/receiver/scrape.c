/*
 * scrape - numbers of an exporter on this host.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/scrape.h"

#include <stdlib.h>

#include "agents/receiver/outlet.h"
#include "agents/receiver/scrape_target.h"
#include "agents/receiver/section.h"
#include "proto/base/memory.h"
#include "proto/http/http.h"
#include "proto/os/clock.h"

static const char option[] = "scrape";

struct scrape {
	struct receiver_source source;
	struct scrape_target target;
	char *name, *origin;
	struct http_options options;
	struct http *http;
	struct outlet *outlet;
	bool has_numbers; /* the present page, wanted or not */
};

/* ---- one turn ---- */

static bool
wants(void *arg, struct text name)
{
	struct scrape *scrape = arg;

	scrape->has_numbers = true;
	return scrape_target_wants(&scrape->target, name);
}

static bool
has_failed(struct scrape *scrape, const char *reason, const struct err *err)
{
	report_bad(&scrape->source.report, reason, text_of(scrape->target.url),
	    err->text, 1);
	return false;
}

/* Get the page; false: there is none. */
static bool
fetch(struct scrape *scrape, struct text *page)
{
	const struct http_request request = {
		.method = "GET",
		.url = scrape->target.url,
		/* Of what can be read here, the simplest first. */
		.headers = { "Accept: text/plain;version=0.0.4,"
			     "application/openmetrics-text;q=0.5,*/*;q=0.1" },
	};
	struct http_answer answer;
	struct err err = { 0 };

	if (http_send(scrape->http, &request, &answer, &err) != 0)
		return has_failed(scrape, "unreachable", &err);
	if (answer.status != 200) {
		http_refused(scrape->http, &answer, &err);
		return has_failed(scrape, "status", &err);
	}
	if (http_is_page(scrape->http, &answer)) {
		err_set(&err, "a page of HTML; numbers are often at /metrics");
		return has_failed(scrape, "html", &err);
	}
	*page = answer.body;
	return true;
}

/* Hand over what the page has; false: it is none of numbers. */
static bool
take(struct scrape *scrape, struct text text, struct dynamic_label *label,
    int64_t now_ns, int64_t *series)
{
	struct prometheus_page page = {
		.text = text,
		.origin = text_of(scrape->origin),
		.label = label,
		.labels = 1,
		.own_first = true,
		.time_ns = now_ns,
		.boot = scrape_target_boot(text),
		.buckets = scrape->target.buckets,
		.arg = scrape,
		.wants = wants,
	};

	scrape->has_numbers = false;
	outlet_page(scrape->outlet, &page, true);
	*series = (int64_t)page.numbers;
	return scrape->has_numbers || page.bad == 0;
}

static void
put_own(struct scrape *scrape, struct dynamic_label *label, bool up, double s,
    int64_t series, int64_t now_ns)
{
	struct dynamic_number number[] = {
		{ .name = text_of("up"),
		    .value = { .type = VALUE_INT, .is.i = up } },
		{ .name = text_of("scrape.seconds"),
		    .unit = text_of("s"),
		    .value = { .type = VALUE_FLOAT, .is.f = s } },
		{ .name = text_of("scrape.series"),
		    .value = { .type = VALUE_INT, .is.i = series } },
	};

	outlet_numbers(scrape->outlet, text_of(scrape->origin), label, 1,
	    number, 3, now_ns);
	outlet_flush(scrape->outlet);
}

static void
scrape_once(struct scrape *scrape)
{
	struct dynamic_label label = { text_of("job"),
		text_of(scrape->target.name) };
	int64_t begin_ns = clock_monotonic_ns(), now_ns = clock_wall_ns();
	int64_t series = 0;
	struct text page;
	double seconds;
	bool up = fetch(scrape, &page);

	if (receiver_is_stopping(&scrape->source))
		return;
	seconds =
	    (double)(clock_monotonic_ns() - begin_ns) / (double)NS_PER_SECOND;
	if (up)
		up = take(scrape, page, &label, now_ns, &series);
	put_own(scrape, &label, up, seconds, series, now_ns);
}

/* ---- the source ---- */

static void
run(struct receiver_source *source)
{
	struct scrape *scrape = source->arg;
	int64_t next_ns =
	    clock_monotonic_ns() + scrape_target_offset_ns(&scrape->target);

	while (receiver_sleep(source, next_ns)) {
		scrape_once(scrape);
		/* A missed turn is skipped. */
		do
			next_ns += scrape->target.period_ns;
		while (next_ns < clock_monotonic_ns());
	}
}

static int
open_it(struct receiver_source *source, struct err *err)
{
	struct scrape *scrape = source->arg;

	outlet_new(&scrape->outlet, source);
	return http_open(&scrape->http, &scrape->options, err);
}

static void
close_it(struct receiver_source *source)
{
	struct scrape *scrape = source->arg;

	http_close(&scrape->http);
	outlet_free(&scrape->outlet);
	scrape_target_clear(&scrape->target);
	free(scrape->name);
	free(scrape->origin);
	free(scrape);
}

static int
add(struct receiver *receiver, const char *word, struct err *err)
{
	bool remote = receiver->settings.scrape_remote;
	struct scrape *scrape = memory_zero(1, sizeof(*scrape));

	if (scrape_target_parse(&scrape->target, word, remote, err) != 0) {
		scrape_target_clear(&scrape->target);
		free(scrape);
		return -1;
	}
	scrape->name = memory_format("scrape %s", scrape->target.name);
	scrape->origin = memory_format("prom/%s", scrape->target.name);
	scrape->options = (struct http_options){
		.once = true,
		.once_ns = scrape->target.period_ns / 2,
		.silence_ns = scrape->target.period_ns / 2,
		.answer_bytes_max = PROMETHEUS_PAGE_BYTES_MAX,
		.stop = &receiver->stopping,
		.direct = true,
		.here = !remote,
		.socket = scrape->target.socket,
		.compressed = true,
	};
	scrape->source = (struct receiver_source){
		.name = scrape->name,
		.open = open_it,
		.run = run,
		.close = close_it,
		.arg = scrape,
	};
	return receiver_add(receiver, &scrape->source, err);
}

int
scrape_check(const struct receiver_settings *settings, struct err *err)
{
	const struct opt_list *list = &settings->scrape;

	if (section_check_names(list, option, err) != 0)
		return -1;
	for (uint32_t i = 0; i < list->count; i++) {
		struct scrape_target target;
		int rc = scrape_target_parse(
		    &target, list->at[i], settings->scrape_remote, err);

		scrape_target_clear(&target);
		if (rc != 0)
			return err_prefix_option(err, option);
	}
	return 0;
}

int
scrape_add(struct receiver *receiver, struct err *err)
{
	const struct opt_list *list = &receiver->settings.scrape;

	for (uint32_t i = 0; i < list->count; i++)
		if (add(receiver, list->at[i], err) != 0)
			return -1;
	return 0;
}

void
scrape_declare(
    const struct receiver_settings *settings, struct sandbox *sandbox)
{
	const struct http_options options = { .cacert = NULL };

	if (settings->scrape.count > 0)
		http_sandbox(sandbox, &options);
}
