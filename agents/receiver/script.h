/*
 * script - numbers that a script prints, each period.
 *
 * Its output is a page in Prometheus' text format, of which "queue.length 17"
 * is the simplest.  Its own numbers are script.exit and script.seconds, with
 * label script=NAME.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_SCRIPT_H
#define AGENTS_RECEIVER_SCRIPT_H

#include "agents/receiver/receiver.h"

int script_check(const struct receiver_settings *settings, struct err *err);
int script_add(struct receiver *receiver, struct err *err);

#endif
