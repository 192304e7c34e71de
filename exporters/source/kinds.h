/*
 * kinds - the option --kind: event,span --kind gap.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_KINDS_H
#define EXPORTERS_SOURCE_KINDS_H

#include "proto/config/opt.h"
#include "proto/record/record.h"

/* Parse a list into bits of enum record_kind.  Only kinds in `known` are
 * valid; `otherwise` is returned for an empty list. */
uint32_t kinds_of(
    const struct opt_list *list, uint32_t known, uint32_t otherwise);

#endif
