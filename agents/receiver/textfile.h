/*
 * textfile - numbers that programs leave in files: the folder of
 * node_exporter's textfile collector.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_TEXTFILE_H
#define AGENTS_RECEIVER_TEXTFILE_H

#include "agents/receiver/receiver.h"

int textfile_check(const struct receiver_settings *settings, struct err *err);
int textfile_add(struct receiver *receiver, struct err *err);
void textfile_declare(
    const struct receiver_settings *settings, struct sandbox *sandbox);

#endif
