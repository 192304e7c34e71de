/*
 * interrupt - blocks INT and TERM until the program looks for them.
 *
 * A program that has work to finish blocks the signals.  Whatever it waits for,
 * it also waits for interrupt_fd.  A signal stays pending, so that every part
 * of the program sees it.  Without interrupt_hold the signals end the process
 * as usual.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_SERVICE_INTERRUPT_H
#define PROTO_SERVICE_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

/* Block the signals from now on; call it before any thread starts. */
void interrupt_hold(void);
/* Is a signal pending? */
bool interrupt_is_pending(void);
/* Readable while a signal is pending.  Lives as long as the process; -1: no
 * descriptor was available, and waits end at their timeout. */
int interrupt_fd(void);
/* Sleep; false: a signal ended it early. */
bool interrupt_sleep(int64_t ns);

#endif
