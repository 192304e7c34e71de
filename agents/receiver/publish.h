/*
 * publish - the source that publishes the reports of all others.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_PUBLISH_H
#define AGENTS_RECEIVER_PUBLISH_H

#include "agents/receiver/receiver.h"

int publish_add(struct receiver *receiver, struct err *err);

#endif
