/*
 * past - the records that retention has deleted, read from the archive.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/daemon/past.h"

#include <pthread.h>
#include <stdlib.h>

#include "aggregator/archive/read/read.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

enum { THREADS_MAX = 16 };
/* After a failure nobody waits for another one so soon. */
#define AGAIN_NS (5 * NS_PER_SECOND)

struct past {
	const struct aggregator_settings_given *given;

	pthread_mutex_t lock; /* of what follows */
	int64_t again_ns;     /* monotonic */
	struct err failure;
	/* Each thread of the query server is known by its reader, and has one
	 * of the archive. */
	struct {
		const struct reader *of;
		struct reader *reader;
	} thread[THREADS_MAX];
	unsigned threads;
};

struct past *
past_new(const struct aggregator_settings_given *given)
{
	struct past *past = memory_zero(1, sizeof(*past));

	past->given = given;
	pthread_mutex_init(&past->lock, NULL);
	return past;
}

void
past_free(struct past **past)
{
	struct past *old = *past;

	*past = NULL;
	if (old == NULL)
		return;
	for (unsigned i = 0; i < old->threads; i++)
		reader_close(&old->thread[i].reader);
	pthread_mutex_destroy(&old->lock);
	free(old);
}

/* With the lock. */
static int
find_reader(struct past *past, const struct reader *of, struct reader **reader,
    struct err *err)
{
	const struct archive_read_options how = {
		.clickhouse = aggregator_settings_clickhouse(past->given),
		.option = "archive",
	};

	for (unsigned i = 0; i < past->threads; i++)
		if (past->thread[i].of == of) {
			*reader = past->thread[i].reader;
			return 0;
		}
	if (past->threads == THREADS_MAX)
		return err_set(err, "archive: too many readers");
	if (clock_monotonic_ns() < past->again_ns) {
		*err = past->failure;
		return -1;
	}
	if (archive_read_open(reader, &how, err) != 0) {
		past->failure = *err;
		past->again_ns = clock_monotonic_ns() + AGAIN_NS;
		return -1;
	}
	past->thread[past->threads].of = of;
	past->thread[past->threads++].reader = *reader;
	return 0;
}

static int
ask_archive(struct past *past, struct reader *reader,
    const struct wire_header *header, const struct wire_query *query,
    struct wire_writer *w, bool *last, struct err *err)
{
	const struct wire_query asked = reader_ask_archive(reader, query);
	const struct wire_writer before = *w;
	struct reader *other;
	int rc;

	pthread_mutex_lock(&past->lock);
	rc = find_reader(past, reader, &other, err);
	pthread_mutex_unlock(&past->lock);
	if (rc != 0)
		return -1;
	if (reader_answer(other, header, &asked, w, last, err) != 0)
		return -1;
	if (*last)
		reader_go_on(reader, &before, w);
	*last = false;
	return 0;
}

int
past_answer(struct past *past, struct reader *reader,
    const struct wire_header *header, const struct wire_query *query,
    struct wire_writer *w, bool *last, struct err *err)
{
	const struct wire_writer empty = *w;

	if (reader_answer(reader, header, query, w, last, err) != 0)
		return -1;
	if (reader_absent(reader) == NULL)
		return 0;
	*w = empty;
	return ask_archive(past, reader, header, query, w, last, err);
}
