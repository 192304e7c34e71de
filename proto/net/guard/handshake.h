/*
 * handshake - what a peer of a listener may say first.
 *
 * ZMTP 3 (ZeroMQ RFC 23), and no name of its own ("Identity").  libzmq lets
 * peers choose the names by which a listener tells them apart, and ends the
 * process when it would give another peer a name that is taken.  It counts
 * those that it gives: somebody with a few thousand connections need not wait
 * long.  Peers of ZMTP 1 and 2 end it when they come while a listener closes.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_GUARD_HANDSHAKE_H
#define PROTO_NET_GUARD_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>

/* A listener has accepted the connection. */
void handshake_begin(int fd);
void handshake_forget(int fd);

/* May these bytes, the next that were read of the connection, go to libzmq?
 * Those of others than connections of a listener may. */
bool handshake_allows(int fd, const unsigned char *at, size_t bytes);

/* Is there a property "Identity" that is not empty? */
bool handshake_has_name(const unsigned char *at, size_t bytes);

#endif
