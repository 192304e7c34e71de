/*
 * import_descriptor - the two descriptors of a Scanner database that say which
 * job is which and how many nodes it had.
 *
 * Protocol buffers: of jobs/ID/descriptor.bin the fields 1 id, 2 name, 5
 * num_nodes; of db_metadata.bin field 3, the jobs (1 id, 2 name).  Everything
 * else is passed over.  Read as a stream, whatever their size.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_SCANNER_DESCRIPTOR_H
#define AGENTS_IMPORT_SCANNER_DESCRIPTOR_H

#include "agents/import/clean_name.h"
#include "agents/import/file.h"

struct import_descriptor {
	int32_t id, nodes;
	struct import_name name; /* none: bytes 0 */
};

/* Of one job.  -1: damaged, and at which offset; what was read before that is
 * in `descriptor`. */
int import_descriptor_read(struct import_descriptor *descriptor,
    struct import_file *file, struct err *err);

/* The id of the last job of that name in a database's descriptor.  1, 0: there
 * is none, -1: damaged. */
int import_descriptor_find(
    struct import_file *file, struct text name, int32_t *id, struct err *err);

#endif
