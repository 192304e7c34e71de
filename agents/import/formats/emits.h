/*
 * import_emits - calls of the recorder of the older tool as events.
 *
 * A line is {"node", "source", "event", "ts" (text or null), "clock_us",
 * "message", "prefix"}; source and event are lower-cased as the recorder did,
 * the time is ts or else clock_us.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_FORMATS_EMITS_H
#define AGENTS_IMPORT_FORMATS_EMITS_H

#include "agents/import/formats/format.h"

/* As import_cascade_parse. */
int import_emits_parse(
    struct import_row *row, struct text line, struct err *err);

#endif
