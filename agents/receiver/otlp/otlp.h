/*
 * otlp - traces, metrics and logs of programs that have OpenTelemetry: a
 * server of OTLP over HTTP on the loopback interface.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_OTLP_OTLP_H
#define AGENTS_RECEIVER_OTLP_OTLP_H

#include "agents/receiver/receiver.h"

int otlp_check_settings(
    const struct receiver_settings *settings, struct err *err);
int otlp_add(struct receiver *receiver, struct err *err);

#endif
