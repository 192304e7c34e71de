/*
 * scrape_target - which exporter is asked, how often, and for which numbers.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/scrape_target.h"

#include <stdlib.h>
#include <string.h>

#include "agents/receiver/section.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/hash/hash.h"
#include "proto/http/message.h"
#include "proto/os/clock.h"

enum { PERIOD, KEEP, DROP, BUCKETS, URL }; /* RECEIVER_SCRAPE_KEYS */

static const char unix_scheme[] = "unix:";

static char *
value_of(const struct opt_section *section, int key)
{
	return section->value[key].at != NULL ? memory_text(section->value[key])
					      : NULL;
}

/* unix:PATH or unix:PATH:/PAGE. */
static int
take_socket(struct scrape_target *target, struct text url, struct err *err)
{
	struct text rest = text_after(url, ':'), path = text_before(rest, ':'),
		    page = text_of("/metrics");

	if (path.bytes < rest.bytes)
		page = text_after(rest, ':');
	if (path.bytes == 0 || path.at[0] != '/' || page.bytes == 0 ||
	    page.at[0] != '/')
		return err_set(err, "url: a Unix socket is unix:/PATH, or "
				    "unix:/PATH:/PAGE");
	target->socket = memory_text(path);
	target->url =
	    memory_format("http://localhost%.*s", (int)page.bytes, page.at);
	return http_check_url(target->url, err);
}

static int
take_url(
    struct scrape_target *target, struct text url, bool remote, struct err *err)
{
	char shown[HTTP_DISPLAY_URL_BYTES];

	if (url.bytes == 0)
		return err_set(err, "has no url");
	if (url.bytes > sizeof(unix_scheme) - 1 &&
	    memcmp(url.at, unix_scheme, sizeof(unix_scheme) - 1) == 0)
		return take_socket(target, url, err);
	target->url = memory_text(url);
	if (http_check_url(target->url, err) != 0)
		return -1;
	if (remote || http_is_here(target->url))
		return 0;
	return err_set(err,
	    "%s is not of this host: a receiver takes the numbers of its own "
	    "(--scrape-remote allows others)",
	    http_display_url(shown, target->url));
}

int
scrape_target_parse(struct scrape_target *target, const char *word, bool remote,
    struct err *err)
{
	const struct opt *opt = section_option("scrape");
	struct opt_section section;
	struct text buckets;

	*target = (struct scrape_target){ .period_ns = 15 * NS_PER_SECOND };
	if (opt_section_parse(&section, opt, word, err) != 0)
		return -1;
	target->name = memory_text(section.name);
	target->keep = value_of(&section, KEEP);
	target->drop = value_of(&section, DROP);
	buckets = section.value[BUCKETS];
	target->buckets = text_equal(buckets, text_of("yes"));
	if (buckets.at != NULL && !target->buckets &&
	    !text_equal(buckets, text_of("no")))
		err_set(err, "buckets is yes or no");
	else if (section_duration(
		     &section, opt, PERIOD, &target->period_ns, err) == 0 &&
		 take_url(target, section.value[URL], remote, err) == 0)
		return 0;
	return err_prefix(err, "%s", target->name);
}

void
scrape_target_clear(struct scrape_target *target)
{
	free(target->name);
	free(target->url);
	free(target->socket);
	free(target->keep);
	free(target->drop);
	*target = (struct scrape_target){ .name = NULL };
}

static bool
matches(const char *patterns, struct text name)
{
	struct text rest = text_of(patterns);

	for (;;) {
		struct text pattern = text_before(rest, ',');

		if (text_match(pattern, name))
			return true;
		if (pattern.bytes == rest.bytes)
			return false;
		rest = text_after(rest, ',');
	}
}

bool
scrape_target_wants(const struct scrape_target *target, struct text name)
{
	return (target->keep == NULL || matches(target->keep, name)) &&
	       (target->drop == NULL || !matches(target->drop, name));
}

int64_t
scrape_target_offset_ns(const struct scrape_target *target)
{
	const struct hash_key key = { 0, 0 };
	uint64_t hash = hash_bytes(key, target->name, strlen(target->name));

	return (int64_t)(hash % (uint64_t)target->period_ns);
}

uint64_t
scrape_target_boot(struct text page)
{
	static const char name[] = "\nprocess_start_time_seconds ";
	const char *at =
	    page.bytes > 0 ? memmem(page.at, page.bytes, name, sizeof(name) - 1)
			   : NULL;
	struct text line;
	double seconds;

	if (at == NULL)
		return 0;
	line.at = at + sizeof(name) - 1;
	line.bytes = (uint32_t)(page.at + page.bytes - line.at);
	if (number_parse_double(
		text_trim(text_before(line, '\n')), &seconds, NULL) != 0 ||
	    !(seconds > 0 && seconds < 1e10))
		return 0;
	return (uint64_t)(seconds * 1e9);
}
