/*
 * auth_private - what the files of gate share.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_AUTH_AUTH_PRIVATE_H
#define PROTO_AUTH_AUTH_PRIVATE_H

#include <pthread.h>

#include "proto/auth/auth.h"
#include "proto/config/instance.h"
#include "proto/keys/allowlist.h"
#include "proto/keys/keyfile.h"

enum { GATE_AUDITS = 64 };

/* One a key and reason; the oldest makes room. */
struct gate_audit {
	unsigned char key[PORT_KEY_BYTES];
	enum gate_verdict verdict; /* GATE_OK: free */
	uint64_t untold;
	int64_t told_ns; /* 0: never */
};

/* The thread that answers libzmq. */
struct gate_zap {
	void *context, *door, *stop_here, *stop_there;
	pthread_t thread;
	bool started;
};

struct gate {
	struct gate_options options;
	char allow_path[INSTANCE_PATH_BYTES], key_path[INSTANCE_PATH_BYTES];
	struct gate_zap zap;

	pthread_mutex_t lock; /* of what follows */
	struct allow *allow;
	struct keyfile server; /* with options.doors */
	struct gate_counters counters;
	struct gate_audit audit[GATE_AUDITS];
};

/* Binds before it returns. */
int gate_zap_start(struct gate *gate, struct err *err);
void gate_zap_stop(struct gate *gate);

/* May this key make a connection at all? */
bool gate_admits(struct gate *gate, const unsigned char key[PORT_KEY_BYTES]);

/* Count and, at times, log what was refused.  Under the lock. */
void gate_refused(struct gate *gate, const struct port_peer *peer,
    enum gate_verdict verdict, struct text partition, struct text node);

#endif
