/*
 * refusal - explains why a TCP listener refuses a connection.
 * SPDX-License-Identifier: MIT
 */
#include "proto/auth/refusal.h"

#include "proto/keys/keyfile.h"

enum zsock_trouble
refusal_get(const struct zsock *zsock, struct err *err)
{
	enum zsock_trouble trouble = zsock_trouble(zsock);
	const char *endpoint = zsock_endpoint(zsock);
	const struct keyfile *key = zsock_key(zsock);

	switch (trouble) {
	case ZSOCK_FINE:
	case ZSOCK_TRY_NEXT: break;
	case ZSOCK_REFUSED:
		err_set(err,
		    "%s refuses the key %s: allow it there (poolscope keys "
		    "allow), or give another one (--key)",
		    endpoint, key == NULL ? "" : key->name);
		break;
	case ZSOCK_MECHANISM_MISMATCH:
		err_set(err,
		    key == NULL
			? "%s requires a key: give one (--key), not --insecure"
			: "%s has no keys: connect with --insecure, "
			  "unencrypted",
		    endpoint);
		break;
	case ZSOCK_CLOSED_WITHOUT_KEY:
		err_set(err,
		    "%s closes the connection during the handshake, as a "
		    "listener with keys does: give a key (--key), not "
		    "--insecure",
		    endpoint);
		break;
	case ZSOCK_WRONG_SERVER:
		err_set(err,
		    "%s closes the connection during the handshake: the key %s "
		    "was made for another server (its lines \"server:\")",
		    endpoint, key->name);
		break;
	}
	return trouble;
}
