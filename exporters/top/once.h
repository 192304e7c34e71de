/*
 * top_once - print what a view shows, once: the same as the commands print.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TOP_ONCE_H
#define EXPORTERS_TOP_ONCE_H

#include <stdio.h>

#include "exporters/source/source.h"
#include "exporters/top/view/view.h"

enum { ONCE_RUNS = 20 };

/* `source` NULL: it could not be opened, `err` says why: for the pipeline.
 * `*status`: STATUS_FOUND if a node or the pipeline is not well, else 0. */
int once_print(struct source *source, const struct source_options *options,
    struct text partition, const char *model, enum top_view_number view,
    bool json, FILE *file, int *status, struct err *err);

#endif
