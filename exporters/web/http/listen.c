/*
 * web_listen - where a web server listens.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/number.h"
#include "proto/os/owner/socket_file.h"
#include "proto/os/owner/trusted_dir.h"

/* Connections that wait to be accepted. */
enum { BACKLOG = 1024 };

static int
refuse(const char *text, struct err *err)
{
	return err_set_option(err, "listen",
	    "'%.64s' is not an address such as 127.0.0.1:5580, [::1]:5580 or "
	    "unix:PATH",
	    text);
}

static int
parse_unix(struct web_address *address, const char *path, struct err *err)
{
	struct sockaddr_un *to = (struct sockaddr_un *)(void *)&address->at;

	if (path[0] == '\0' || strlen(path) >= sizeof(to->sun_path))
		return err_set_option(err, "listen",
		    "the path of a socket has 1 to %d bytes",
		    (int)sizeof(to->sun_path) - 1);
	to->sun_family = AF_UNIX;
	strcpy(to->sun_path, path);
	strcpy(address->path, path);
	address->bytes = sizeof(*to);
	address->is_unix = address->is_loopback = true;
	return 0;
}

int
web_address_parse(
    struct web_address *address, const char *text, struct err *err)
{
	struct sockaddr_in *four = (struct sockaddr_in *)(void *)&address->at;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)(void *)&address->at;
	const char *colon = strrchr(text, ':');
	char host[64];
	uint64_t port;
	size_t bytes;

	*address = (struct web_address){ .bytes = 0 };
	if (strncmp(text, "unix:", 5) == 0)
		return parse_unix(address, text + 5, err);
	if (colon == NULL ||
	    number_parse_u64(text_of(colon + 1), &port, NULL) != 0 ||
	    port > UINT16_MAX)
		return refuse(text, err);
	bytes = (size_t)(colon - text);
	if (bytes >= 2 && text[0] == '[' && colon[-1] == ']') {
		snprintf(host, sizeof(host), "%.*s", (int)bytes - 2, text + 1);
		six->sin6_family = AF_INET6;
		six->sin6_port = htons((uint16_t)port);
		address->bytes = sizeof(*six);
		if (inet_pton(AF_INET6, host, &six->sin6_addr) != 1)
			return refuse(text, err);
		address->is_loopback = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
		return 0;
	}
	snprintf(host, sizeof(host), "%.*s", (int)bytes, text);
	four->sin_family = AF_INET;
	four->sin_port = htons((uint16_t)port);
	address->bytes = sizeof(*four);
	if (strcmp(host, "localhost") == 0)
		strcpy(host, "127.0.0.1");
	if (inet_pton(AF_INET, host, &four->sin_addr) != 1)
		return refuse(text, err);
	address->is_loopback = ntohl(four->sin_addr.s_addr) >> 24 == 127;
	return 0;
}

static void
show(const struct web_address *address, int fd,
    char shown[static WEB_ADDRESS_BYTES])
{
	struct sockaddr_storage bound = { 0 };
	const struct sockaddr_in *four = (const void *)&bound;
	const struct sockaddr_in6 *six = (const void *)&bound;
	socklen_t bytes = sizeof(bound);
	char host[INET6_ADDRSTRLEN] = "?";

	if (address->is_unix) {
		snprintf(shown, WEB_ADDRESS_BYTES, "unix:%s", address->path);
		return;
	}
	(void)getsockname(fd, (struct sockaddr *)&bound, &bytes);
	if (bound.ss_family == AF_INET6) {
		inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof(host));
		snprintf(shown, WEB_ADDRESS_BYTES, "[%s]:%d", host,
		    ntohs(six->sin6_port));
	} else {
		inet_ntop(AF_INET, &four->sin_addr, host, sizeof(host));
		snprintf(shown, WEB_ADDRESS_BYTES, "%s:%d", host,
		    ntohs(four->sin_port));
	}
}

/* The socket that a process before us left. */
static void
remove_left(const struct web_address *address)
{
	struct stat st;
	int fd;

	if (lstat(address->path, &st) != 0 || !S_ISSOCK(st.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)&address->at,
		address->bytes) != 0 &&
	    errno == ECONNREFUSED)
		unlink(address->path);
	close(fd);
}

static int
bind_unix(int fd, const struct web_address *address, struct err *err)
{
	mode_t mask;
	int rc, why;

	if (trusted_dir_own_parent(address->path, err) != 0)
		return -1;
	remove_left(address);
	mask = socket_file_begin(true);
	rc = bind(fd, (const struct sockaddr *)&address->at, address->bytes);
	why = errno;
	if (socket_file_end(mask, true, address->path, err) != 0 && rc == 0)
		return -1;
	return rc == 0 ? 0 : err_set(err, "cannot listen: %s", strerror(why));
}

static int
bind_tcp(int fd, const struct web_address *address, struct err *err)
{
	int on = 1;

	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&address->at, address->bytes) ==
	    0)
		return 0;
	if (errno == EADDRINUSE)
		return err_set(err,
		    "the address is taken by another process; choose another "
		    "port with --listen");
	return err_set(err, "cannot listen: %s", strerror(errno));
}

int
web_listen(const struct web_address *address,
    char shown[static WEB_ADDRESS_BYTES], struct err *err)
{
	int fd = socket(address->at.ss_family,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc;

	if (fd < 0)
		return err_set(err, "socket: %s", strerror(errno));
	rc = address->is_unix ? bind_unix(fd, address, err)
			      : bind_tcp(fd, address, err);
	if (rc == 0 && listen(fd, BACKLOG) != 0)
		rc = err_set(err, "cannot listen: %s", strerror(errno));
	show(address, fd, shown);
	if (rc == 0)
		return fd;
	close(fd);
	return -1;
}
