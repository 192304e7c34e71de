/*
 * kinds - the option --kind: event,span --kind gap.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_KINDS_H
#define EXPORTERS_SOURCE_KINDS_H

#include "proto/config/opt.h"
#include "proto/record/record.h"

/* Bits of enum record_kind: what the list names, of `known`; `otherwise` when
 * it is empty.  Another word is wrong usage. */
uint32_t kinds_of(
    const struct opt_list *list, uint32_t known, uint32_t otherwise);

#endif
