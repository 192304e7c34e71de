/*
 * report_anonymise - other names for those that a pool recorded.
 *
 * Nodes, runs, groups, images, who requested a run, phases without a model,
 * devices and other parts of metric groups, texts of attributes, account and
 * pool get the name of what they are and a number: node-1, run-2.  The records
 * are renamed as they are read, so that all that is made of them agrees;
 * questions that name them are put back.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_REPORT_ANONYMISE_H
#define EXPORTERS_REPORT_ANONYMISE_H

#include "exporters/source/source.h"

struct report_names; /* opaque */

/* Read all names of the partition, and rename from then on.  The names must
 * live as long as the source is used. */
int report_names_open(struct report_names **names, struct source *source,
    struct text partition, struct err *err);
void report_names_close(struct report_names **names);
/* The other name of the partition. */
struct text report_names_partition(const struct report_names *names);

#endif
