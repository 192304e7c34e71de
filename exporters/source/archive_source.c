/*
 * archive_source - pages of an archive in ClickHouse.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/archive_source.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/read/read.h"
#include "exporters/source/local_source.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

/* Servers sort before they send the first byte. */
#define TIMEOUT_NS (30 * NS_PER_SECOND)

struct archive_source {
	char *address, *password, *cacert; /* the last two may be NULL */
	atomic_bool is_dropped;            /* the page that is being made */
};

/* ---- addresses ---- */

bool
archive_source_is_named(const char *endpoint)
{
	return strncmp(endpoint, "clickhouse://", 13) == 0 ||
	       strncmp(endpoint, "clickhouses://", 14) == 0;
}

void
archive_source_name(char *to, size_t room, const char *address)
{
	const char *host = strstr(address, "://");
	const char *at = NULL;

	host = host != NULL ? host + 3 : address;
	/* Also of an address that is wrong, whatever is in front of it. */
	at = strrchr(host, '@');
	snprintf(to, room, "%.*s%s", (int)(host - address), address,
	    at != NULL ? at + 1 : host);
}

static struct clickhouse_options
reach(const struct archive_source_values *values, const char *address)
{
	struct clickhouse_options how = CLICKHOUSE_DEFAULT;

	how.url = address;
	how.password = values->password;
	how.cacert = values->cacert;
	how.insecure = values->insecure;
	how.timeout_ns = TIMEOUT_NS;
	return how;
}

int
archive_source_check(const struct archive_source_values *values,
    const char *address, struct err *err)
{
	const struct clickhouse_options how = reach(values, address);
	struct clickhouse *clickhouse = NULL;

	if (clickhouse_open(&clickhouse, &how, "connect", err) != 0)
		return -1;
	clickhouse_close(&clickhouse);
	return 0;
}

void
archive_source_sandbox(
    const struct archive_source_values *values, struct sandbox *sandbox)
{
	sandbox_read_folder_of(sandbox, values->password);
	sandbox_read_folder_of(sandbox, values->cacert);
}

/* ---- the source ---- */

static int
answer(void *arg, struct reader *reader, const struct pages_question *question,
    struct wire_writer *w, bool *last, struct err *err)
{
	(void)arg;
	return reader_answer(
	    reader, &question->header, &question->query, w, last, err);
}

static void
set_dropped(void *arg, bool is_dropped)
{
	struct archive_source *source = arg;

	source->is_dropped = is_dropped;
}

static void
close_source(void *arg)
{
	struct archive_source *old = arg;

	free(old->address);
	free(old->password);
	free(old->cacert);
	free(old);
}

static char *
copy_of(const char *text)
{
	return text != NULL ? memory_string(text) : NULL;
}

int
archive_source_open(struct pages *pages,
    const struct archive_source_values *values, const char *address,
    struct err *err)
{
	static const struct local_source_answerer answerer = {
		.answer = answer,
		.set_dropped = set_dropped,
		.close = close_source,
	};
	struct archive_source *source = memory_zero(1, sizeof(*source));
	struct reader *reader = NULL;
	struct archive_read_options how = { .option = "connect" };

	source->address = memory_string(address);
	source->password = copy_of(values->password);
	source->cacert = copy_of(values->cacert);
	how.clickhouse =
	    reach(&(struct archive_source_values){ source->password,
		      source->cacert, values->insecure },
		source->address);
	how.clickhouse.stop = &source->is_dropped;
	if (archive_read_open(&reader, &how, err) != 0) {
		close_source(source);
		return -1;
	}
	local_source_open_with(pages, reader, &answerer, source);
	return 0;
}
