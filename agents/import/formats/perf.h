/*
 * import_perf - reads reports of an older sampler.
 *
 * A file is one JSON object: {"nodes": [{"node": 0, "reports": [...]}]}, or
 * {"0": [...], "1": [...]} as that sampler saves them.  A report is an object
 * of numbers with a `timestamp` (proto/record/perf_group.h); other members are
 * ignored.  The file is read as a stream: one report is in memory at a time,
 * whatever the size of the file and of its lines.  Numbers are not changed:
 * integers stay integers, and doubles keep every bit.
 *
 * The rows are the definition of the metric group, then the samples; a node
 * with an empty list becomes an entity "node", so that readers know it.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_FORMATS_PERF_H
#define AGENTS_IMPORT_FORMATS_PERF_H

#include "agents/import/formats/format.h"

/* The position in the file.  All zero: its beginning. */
struct import_perf {
	int state;
	bool filled;             /* the container has an element */
	bool by_name;            /* the list is a member of the file's object */
	bool listed;             /* the list of the node was read */
	bool defined;            /* the metric group is defined */
	uint64_t nodes, reports; /* begun so far: of the file, of the node */
	char node[NAME_BYTES_MAX + 1];
	uint32_t node_bytes; /* 0: not known */
};

/* The next row.  IMPORT_TOO_LONG: `err` has the error with the report and the
 * node; the next call continues after it, or ends if the rest of the file is
 * not JSON. */
enum import_next import_perf_next(struct import_perf *perf,
    struct import_file *file, struct import_row *row, struct err *err);

#endif
