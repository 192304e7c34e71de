/*
 * top_session - the live view, until the user quits or a signal ends it.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TOP_SESSION_H
#define EXPORTERS_TOP_SESSION_H

#include "exporters/top/collector.h"
#include "exporters/top/view.h"

/* `source` belongs to the session.  The result is the exit status; -1: it could
 * not begin.  `page`: the address of poolscope-web, for links.  The process
 * ends without it if the source does not answer at the end. */
int session_run(struct source *source, const struct source_options *options,
    const char *partition, const char *model, enum top_view_number view,
    const char *page, struct err *err);

#endif
