/*
 * import_descriptor - reads the two descriptors of a Scanner database: the
 * names and ids of jobs, and the number of nodes of each.
 *
 * Protocol buffers: of jobs/ID/descriptor.bin the fields 1 id, 2 name, 5
 * num_nodes; of db_metadata.bin field 3, the jobs (1 id, 2 name).  Other
 * fields are ignored.  The files are read as a stream, whatever their size.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_SCANNER_DESCRIPTOR_H
#define AGENTS_IMPORT_SCANNER_DESCRIPTOR_H

#include "agents/import/clean_name.h"
#include "agents/import/file.h"

struct import_descriptor {
	int32_t id, nodes;
	struct import_name name; /* bytes 0: none */
};

/* Read the descriptor of one job.  -1: damaged; `err` has the offset, and
 * `descriptor` what was read before it. */
int import_descriptor_read(struct import_descriptor *descriptor,
    struct import_file *file, struct err *err);

/* Find the id of the last job with this name in the database's descriptor.  1,
 * 0: there is none, -1: damaged. */
int import_descriptor_find(
    struct import_file *file, struct text name, int32_t *id, struct err *err);

#endif
