/*
 * event - an event or a service check of DogStatsD, as an event `statsd:TITLE`.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_STATSD_EVENT_H
#define AGENTS_RECEIVER_STATSD_EVENT_H

#include "agents/receiver/statsd/line.h"
#include "agents/submit/compose.h"

/* Its parts and tags are attributes; a tag that has the name of a part is left
 * out.  -1: it has a title or a text that no event can have. */
int statsd_event_compose(
    struct compose *compose, const struct statsd_line *line, struct err *err);

#endif
