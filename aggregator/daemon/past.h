/*
 * past - the records that retention has deleted, read from the archive.
 *
 * An aggregator with an archive answers questions about records from its store,
 * and where the store begins too late, from the archive: page by page, so
 * that a question about both gets one answer.  Phases, runs and their
 * statistics are those of the store.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_DAEMON_PAST_H
#define AGGREGATOR_DAEMON_PAST_H

#include "aggregator/daemon/settings.h"
#include "aggregator/query/server_source.h"

struct past; /* opaque */

/* `given` must outlive it.  Nothing is connected yet. */
struct past *past_new(const struct aggregator_settings_given *given);
void past_free(struct past **past);

/* As reader_answer (reader_of_retained), from any thread of the query server,
 * each with a reader of its own.  -1: the archive cannot be read. */
int past_answer(struct past *past, struct reader *reader,
    const struct wire_header *header, const struct wire_query *query,
    struct wire_writer *w, bool *last, struct err *err);

#endif
