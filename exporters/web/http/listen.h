/*
 * web_listen - where a web server listens: 127.0.0.1:5580, [::1]:5580,
 * unix:PATH.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_HTTP_LISTEN_H
#define EXPORTERS_WEB_HTTP_LISTEN_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "proto/base/err.h"

enum { WEB_ADDRESS_BYTES = 128 };

struct web_address {
	struct sockaddr_storage at;
	socklen_t bytes;
	bool is_unix, is_loopback; /* a Unix socket is loopback, too */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

/* -1: it is none of the forms above. */
int web_address_parse(
    struct web_address *address, const char *text, struct err *err);

/* Returns a listening descriptor, and sets `shown`: "127.0.0.1:5580". */
int web_listen(const struct web_address *address,
    char shown[static WEB_ADDRESS_BYTES], struct err *err);

#endif
