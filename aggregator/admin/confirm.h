/*
 * confirm - asks before something is deleted that nothing brings back.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ADMIN_CONFIRM_H
#define AGGREGATOR_ADMIN_CONFIRM_H

#include <stdbool.h>

/* Is there somebody to ask: are standard input and error a terminal? */
bool confirm_can_ask(void);

/* Ask the question, which ends with a question mark, and read a line.  True:
 * it is "y" or "yes". */
bool confirm_ask(const char *question);

#endif
