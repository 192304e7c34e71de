/*
 * interrupt - INT and TERM as something to be asked for, rather than the end.
 *
 * Who has something to finish first holds them; waits watch the descriptor,
 * and end while a signal is held back.  Nobody takes the signal off, so that
 * one after another sees it.  Without interrupt_hold they end the process as
 * ever. SPDX-License-Identifier: MIT
 */
#ifndef PROTO_SERVICE_INTERRUPT_H
#define PROTO_SERVICE_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

/* From now on; before any thread begins. */
void interrupt_hold(void);
/* Has one come since? */
bool interrupt_is_asked(void);
/* Readable while one is held back.  Lives as long as the process; -1: no
 * descriptor could be had, waits end when their time is over. */
int interrupt_fd(void);
/* Sleep; false: not to the end, because one came. */
bool interrupt_sleep(int64_t ns);

#endif
