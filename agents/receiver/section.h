/*
 * section - what options that are sections (opt_section.h) have in common here.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_SECTION_H
#define AGENTS_RECEIVER_SECTION_H

#include <stdint.h>

#include "proto/config/opt_section.h"

enum { SECTION_NAME_BYTES = 64 };

/* The option of receiver_settings_table. */
const struct opt *section_option(const char *name);

/* Has each section a name of its own, which labels and groups can have? */
int section_check_names(
    const struct opt_list *list, const char *option, struct err *err);

/* Value `number` of the section, at least 100 ms; unchanged if it has none.
 * `err` must be clear. */
int section_duration(const struct opt_section *section, const struct opt *opt,
    uint32_t number, int64_t *ns, struct err *err);

#endif
