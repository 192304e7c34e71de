/*
 * import_perf - reports of an older sampler, one after another.
 *
 * A file is one JSON object: {"nodes": [{"node": 0, "reports": [...]}]}, or
 * {"0": [...], "1": [...]} as that sampler saves them.  A report is an object
 * of numbers with a `timestamp` (proto/record/perf_group.h); other members are
 * passed over. It is read as a stream: one report is in memory at a time,
 * whatever the file's size and lines.  Numbers stay what they are: an integer
 * an integer, a double every bit of it.
 *
 * What comes out are rows: first the set's definition, then samples; a node
 * whose list is empty is an entity "node", so that readers know of it.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_FORMATS_PERF_H
#define AGENTS_IMPORT_FORMATS_PERF_H

#include "agents/import/formats/format.h"

/* Where in the file the reader is.  All zero: at its beginning. */
struct import_perf {
	int state;
	bool filled;             /* the container has an element */
	bool by_name;            /* the list is a member of the file's object */
	bool listed;             /* the node has had its list */
	bool defined;            /* the set is */
	uint64_t nodes, reports; /* of the file, of the node; begun */
	char node[NAME_BYTES_MAX + 1];
	uint32_t node_bytes; /* 0: not known */
};

/* The next row.  IMPORT_TOO_LONG: something is bad, and `err` says what and
 * which report of which node; the next call goes on behind it, or ends when
 * the file is not JSON from there on. */
enum import_next import_perf_next(struct import_perf *perf,
    struct import_file *file, struct import_row *row, struct err *err);

#endif
