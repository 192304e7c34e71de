/*
 * auth_private - what the files of auth share.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_AUTH_AUTH_PRIVATE_H
#define PROTO_AUTH_AUTH_PRIVATE_H

#include <pthread.h>

#include "proto/auth/auth.h"
#include "proto/config/instance.h"
#include "proto/keys/authorized_keys.h"
#include "proto/keys/keyfile.h"

enum { AUTH_AUDITS = 64 };

/* The refusals of a key for one reason; a new entry replaces the oldest. */
struct auth_audit {
	unsigned char key[ZSOCK_KEY_BYTES];
	enum auth_verdict verdict; /* AUTH_OK: free */
	uint64_t unreported;       /* refusals since the last log line */
	int64_t reported_ns;       /* time of that line; 0: none yet */
};

/* The thread that answers libzmq. */
struct auth_zap {
	void *context, *listener, *stop_here, *stop_there;
	struct thread thread;
};

struct auth {
	struct auth_options options;
	char allow_path[INSTANCE_PATH_BYTES], key_path[INSTANCE_PATH_BYTES];
	struct auth_zap zap;

	pthread_mutex_t lock; /* protects the members below */
	struct authorized_keys *keys;
	struct keyfile server; /* with options.listeners */
	struct auth_counters counters;
	struct auth_audit audit[AUTH_AUDITS];
};

/* The handler is bound when this returns. */
int auth_zap_start(struct auth *auth, struct err *err);
void auth_zap_stop(struct auth *auth);

/* May this key connect at all? */
bool auth_admits(struct auth *auth, const unsigned char key[ZSOCK_KEY_BYTES]);

#endif
