/*
 * mirror - a store that has of an archive what was asked for.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/mirror/mirror_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggregator/archive/schema/schema.h"
#include "aggregator/db/durable_dir.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"

/* ---- the store ---- */

static const char *
temporary_dir(const struct mirror *mirror)
{
	const char *dir = mirror->options.dir;

	if (dir == NULL)
		dir = getenv("TMPDIR");
	return dir != NULL && dir[0] != '\0' ? dir : "/tmp";
}

/* The files have no names any more: they go with the process, however that
 * ends. */
static void
remove_names(const char *dir)
{
	static const char *const parts[] = { "journal", "tables" };
	char path[DURABLE_DIR_PATH_BYTES];

	for (int i = 0; i < 2; i++)
		if (durable_dir_path(path, dir, parts[i], NULL) == 0)
			durable_dir_remove(path, NULL);
	durable_dir_remove(dir, NULL);
}

static int
open_store(struct mirror *mirror, struct err *err)
{
	const struct journal_options journal = { .temporary = true };
	struct db_options tables = { .temporary = true };
	char dir[DURABLE_DIR_PATH_BYTES];
	int rc = -1;

	if (durable_dir_path(
		dir, temporary_dir(mirror), "mirror.XXXXXX", err) != 0)
		return -1;
	if (mkdtemp(dir) == NULL)
		return err_set(err, "%s: %s", dir, strerror(errno));
	if (journal_open(&mirror->journal, dir, &journal, err) == 0)
		rc = tables_open(&mirror->tables, dir, &tables, err);
	remove_names(dir);
	return rc;
}

static int
open_archive(struct mirror *mirror, struct err *err)
{
	struct clickhouse_options how = mirror->options.clickhouse;

	how.stop = &mirror->stop;
	if (clickhouse_open(
		&mirror->client, &how, mirror->options.option, err) != 0 ||
	    clickhouse_find(mirror->client, err) != 0 ||
	    schema_check(mirror->client, err) != 0)
		return -1;
	return 0;
}

static void
init_lock(struct mirror *mirror)
{
	pthread_condattr_t attributes;

	pthread_mutex_init(&mirror->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&mirror->changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

static int
start(struct mirror *mirror, struct err *err)
{
	const struct thread_options how = { .name = "the reader of the archive",
		.run = mirror_run,
		.stop = mirror_stop,
		.arg = mirror };

	mirror->dictionary = dictionary_new(DICTIONARY_MAX);
	mirror->status.until_ns = clock_wall_ns();
	if (open_archive(mirror, err) != 0 || open_store(mirror, err) != 0 ||
	    mirror_list(mirror, err) != 0)
		return -1;
	mirror->status.partitions = mirror->partitions;
	if (mirror->partitions == 0 && mirror->options.pattern != NULL)
		return err_set(err, "no partition of the archive matches");
	return thread_start(&mirror->thread, &how, NULL, err);
}

int
mirror_open(
    struct mirror **out, const struct mirror_options *options, struct err *err)
{
	struct mirror *mirror = memory_zero(1, sizeof(*mirror));

	mirror->options = *options;
	if (mirror->options.bytes == 0)
		mirror->options.bytes = MIRROR_BYTES;
	init_lock(mirror);
	*out = mirror;
	if (start(mirror, err) == 0)
		return 0;
	mirror_close(out);
	return -1;
}

void
mirror_close(struct mirror **mirror)
{
	struct mirror *old = *mirror;

	*mirror = NULL;
	if (old == NULL)
		return;
	thread_stop(&old->thread);
	for (uint32_t i = 0; i < old->partitions; i++)
		free(old->partition[i].epoch);
	free(old->partition);
	free(old->hour);
	free(old->touched);
	buffer_clear(&old->into.common);
	pull_claims_clear(&old->claims);
	dictionary_free(&old->dictionary);
	db_close(&old->tables);
	journal_close(&old->journal);
	clickhouse_close(&old->client);
	pthread_cond_destroy(&old->changed);
	pthread_mutex_destroy(&old->lock);
	free(old);
}

/* ---- answers ---- */

int
mirror_reader(struct mirror *mirror, struct reader **reader, struct err *err)
{
	if (reader_open_shared(reader, mirror->tables, mirror->journal, err) !=
	    0)
		return -1;
	reader_of_mirror(*reader);
	return 0;
}

/* Number 0: the archive does not have it. */
static int
find_partition(
    struct mirror *mirror, struct text name, uint32_t *number, struct err *err)
{
	struct db_txn *txn;

	if (db_begin(mirror->tables, false, &txn, err) != 0)
		return -1;
	*number = dictionary_find(txn, 0, name);
	db_abort(&txn);
	return 0;
}

/* The keys and values of the partition that is asked about. */
static int
need_partition(struct mirror *mirror, const struct wire_header *header,
    int64_t until_ns, struct err *err)
{
	struct absent_need what = { .first = { .kind = 0 } };

	if (header->type == WIRE_STATUS)
		return 0;
	if (find_partition(
		mirror, header->partition, &what.first.partition, err) != 0)
		return -1;
	return what.first.partition == 0
		   ? 0
		   : mirror_wait(mirror, &what, until_ns, err);
}

int
mirror_answer(struct mirror *mirror, struct reader *reader,
    const struct wire_header *header, const struct wire_query *query,
    struct wire_writer *w, bool *last, int64_t wait_ns, struct err *err)
{
	const struct wire_writer empty = *w;
	int64_t now_ns = clock_monotonic_ns();
	int64_t until_ns =
	    wait_ns < INT64_MAX - now_ns ? now_ns + wait_ns : INT64_MAX;
	int rc;

	if (header->type == WIRE_FOLLOW)
		return err_set(err,
		    "an archive cannot be followed: it gets its records some "
		    "time after the aggregator");
	rc = need_partition(mirror, header, until_ns, err);
	while (rc == 0) {
		const struct absent_need *absent;

		*w = empty;
		if (reader_answer(reader, header, query, w, last, err) != 0)
			return MIRROR_FAILED;
		absent = reader_absent(reader);
		if (absent == NULL)
			return MIRROR_DONE;
		rc = mirror_wait(mirror, absent, until_ns, err);
	}
	return rc;
}

void
mirror_status(struct mirror *mirror, struct mirror_status *status)
{
	pthread_mutex_lock(&mirror->lock);
	*status = mirror->status;
	pthread_mutex_unlock(&mirror->lock);
}
