/*
 * statsd - numbers that programs send as datagrams of statsd or DogStatsD.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_STATSD_STATSD_H
#define AGENTS_RECEIVER_STATSD_STATSD_H

#include "agents/receiver/receiver.h"

int statsd_check(const struct receiver_settings *settings, struct err *err);
int statsd_add(struct receiver *receiver, struct err *err);
void statsd_declare(
    const struct receiver_settings *settings, struct sandbox *sandbox);

#endif
