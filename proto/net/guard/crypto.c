/*
 * crypto - keys and names that libzmq must not get.
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <string.h>

#include <sodium.h>

#include "proto/net/guard/guard.h"
#include "proto/net/guard/handshake.h"

/* Of an INITIATE (ZeroMQ RFC 26), in front of the properties: a key, a nonce
 * and a box. */
static const char initiate[] = "CurveZMQINITIATE";
enum { AT_PROPERTIES = crypto_box_ZEROBYTES + 32 + 16 + 80 };

/* In place of libsodium's. */
int
crypto_box_open(unsigned char *text, const unsigned char *box,
    unsigned long long bytes, const unsigned char *nonce,
    const unsigned char *public, const unsigned char *secret)
{
	int rc = crypto_box_curve25519xsalsa20poly1305_open(
	    text, box, bytes, nonce, public, secret);

	if (rc == 0 && bytes > AT_PROPERTIES &&
	    memcmp(nonce, initiate, sizeof(initiate) - 1) == 0 &&
	    handshake_has_name(
		text + AT_PROPERTIES, (size_t)bytes - AT_PROPERTIES))
		return -1;
	return rc;
}

/* In place of libsodium's. */
int
crypto_box_beforenm(unsigned char *shared, const unsigned char *public,
    const unsigned char *secret)
{
	if (crypto_box_curve25519xsalsa20poly1305_beforenm(
		shared, public, secret) != 0)
		randombytes_buf(shared, crypto_box_BEFORENMBYTES);
	return 0;
}

bool
guard_has_crypto(void)
{
	return dlsym(RTLD_DEFAULT, "crypto_box_open") ==
		   (void *)crypto_box_open &&
	       dlsym(RTLD_DEFAULT, "crypto_box_beforenm") ==
		   (void *)crypto_box_beforenm;
}
