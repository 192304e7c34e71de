/*
 * cascade_read - read the startup of a partition from a source.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_READ_H
#define EXPORTERS_CASCADE_READ_H

#include "exporters/cascade/cascade.h"
#include "exporters/source/source.h"
#include "proto/base/err.h"

/* Fill and finish an initialized cascade.  -1 also when there is no node: "no
 * cascade events of partition ... in ...". */
int cascade_read(struct cascade *cascade, struct source *source,
    struct text partition, struct err *err);

#endif
