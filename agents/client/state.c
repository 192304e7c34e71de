/*
 * client_state - the state of the library, one for each process and thread.
 * SPDX-License-Identifier: MIT
 */
#include "agents/client/client_private.h"

struct client client = {
	.lock = PTHREAD_MUTEX_INITIALIZER, .wake = -1, .process_fd = -1
};
_Thread_local struct client_self client_self;
