/*
 * recall - learns after a start which uuids and puts the spool holds.
 *
 * Goes through what was accepted last, also what is acknowledged but kept: a
 * client or a file of the drop directory may bring any of it once more.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECALL_H
#define AGENTS_RECALL_H

#include "agents/ids.h"
#include "agents/puts.h"
#include "agents/spool.h"

void recall_spool(struct spool *spool, struct ids *ids, struct puts *puts);

#endif
