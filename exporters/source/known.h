/*
 * known - the names that exist, for a name that matches nothing.
 *
 * An empty table leaves open whether nothing happened or a name was mistyped.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_KNOWN_H
#define EXPORTERS_SOURCE_KNOWN_H

#include "exporters/source/source.h"

/* Does each item of the list (proto/record/node_list.h) select a node?  -1: the
 * sentence says which one does not, and what is near.  Names of a range that
 * are no nodes are logged. */
int known_check_nodes(struct source *source, struct text partition,
    struct text list, struct err *err);

/* After an answer with the result `rc`: if there was no record in it, does the
 * partition exist?  Otherwise -1, and the sentence.  Returns the new result. */
int known_check_partition(
    struct source *source, struct text partition, int rc, struct err *err);

/* Append to the sentence of an error the names that are near to `typed`: those
 * that `what` (SOURCE_RECORDS or SOURCE_STATS) would give without the name.  Of
 * an event "source:name", of an entity "kind:id", of a phase "model:phase",
 * otherwise the name of the record; of a sample its group. */
void known_suggest(struct source *source, enum source_what what,
    struct text partition, const struct wire_query *query, const char *typed,
    struct err *err);

#endif
