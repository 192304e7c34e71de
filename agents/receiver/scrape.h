/*
 * scrape - numbers of an exporter on this host: its page in Prometheus' text
 * format, asked for each period.
 *
 * All get label job=NAME, unless they have one.  Its own numbers are up,
 * scrape.seconds and scrape.series, as Prometheus has them.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_SCRAPE_H
#define AGENTS_RECEIVER_SCRAPE_H

#include "agents/receiver/receiver.h"

int scrape_check(const struct receiver_settings *settings, struct err *err);
int scrape_add(struct receiver *receiver, struct err *err);
void scrape_declare(
    const struct receiver_settings *settings, struct sandbox *sandbox);

#endif
