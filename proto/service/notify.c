/*
 * notify - reports the state of the service to the supervisor.
 * SPDX-License-Identifier: MIT
 */
#include "proto/service/notify.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "proto/base/number.h"
#include "proto/base/text.h"

enum { REPORTED_BYTES = 1024, SEND_SECONDS = 1, QUOTED_BYTES = 512 };

/* One day: a longer interval is a mistake in the unit. */
#define WATCHDOG_US_MAX (UINT64_C(24) * 3600 * 1000000)

/* An absolute path, or '@' and a name of the abstract namespace. */
static int
take_address(struct notify *notify, const char *name, struct err *err)
{
	struct sockaddr_un *to = &notify->to;
	size_t bytes = strlen(name);
	char quoted[QUOTED_BYTES];

	text_quote(quoted, sizeof(quoted), text_of(name));
	if ((name[0] != '/' && name[0] != '@') || bytes < 2)
		return err_set(err,
		    "NOTIFY_SOCKET=%s is neither an absolute path nor @ and a "
		    "name",
		    quoted);
	if (bytes >= sizeof(to->sun_path))
		return err_set(err,
		    "NOTIFY_SOCKET=%s is longer than the %zu bytes of a socket "
		    "name",
		    quoted, sizeof(to->sun_path) - 1);
	*to = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(to->sun_path, name, bytes);
	if (name[0] == '@')
		to->sun_path[0] = '\0';
	notify->to_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
				       bytes + (name[0] == '/'));
	return 0;
}

static int
take_watchdog(
    struct notify *notify, const char *period, const char *pid, struct err *err)
{
	struct err why = { 0 };
	uint64_t us = 0, whose = 0;
	char quoted[QUOTED_BYTES];

	if (pid != NULL && number_parse_u64(text_of(pid), &whose, &why) != 0) {
		text_quote(quoted, sizeof(quoted), text_of(pid));
		return err_set(err, "WATCHDOG_PID=%s: %s", quoted, why.text);
	}
	/* Addressed to the process that started us. */
	if (period == NULL || (pid != NULL && whose != (uint64_t)getpid()))
		return 0;
	text_quote(quoted, sizeof(quoted), text_of(period));
	if (number_parse_u64(text_of(period), &us, &why) != 0)
		return err_set(err, "WATCHDOG_USEC=%s: %s", quoted, why.text);
	if (us == 0 || us > WATCHDOG_US_MAX)
		return err_set(err,
		    "WATCHDOG_USEC=%s is not from 1 to %llu microseconds",
		    quoted, (unsigned long long)WATCHDOG_US_MAX);
	notify->watchdog_ns = (int64_t)us * 1000;
	return 0;
}

static int
open_socket(struct notify *notify, struct err *err)
{
	const struct timeval patience = { .tv_sec = SEND_SECONDS };

	notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (notify->fd < 0)
		return err_set(err,
		    "cannot create a socket for NOTIFY_SOCKET: %s",
		    strerror(errno));
	setsockopt(
	    notify->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	return 0;
}

int
notify_open(struct notify *notify, struct err *err)
{
	const char *name = getenv("NOTIFY_SOCKET");
	int rc = 0;

	*notify = (struct notify){ .fd = -1 };
	if (name != NULL && name[0] != '\0') {
		if (take_address(notify, name, err) != 0 ||
		    take_watchdog(notify, getenv("WATCHDOG_USEC"),
			getenv("WATCHDOG_PID"), err) != 0 ||
		    open_socket(notify, err) != 0)
			rc = -1;
	}
	if (rc != 0)
		notify->watchdog_ns = 0;
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return rc;
}

void
notify_close(struct notify *notify)
{
	if (notify->fd >= 0)
		close(notify->fd);
	notify->fd = -1;
}

void
notify_send(const struct notify *notify, const char *format, ...)
{
	char lines[REPORTED_BYTES];
	va_list args;
	int n;

	if (notify->fd < 0)
		return;
	va_start(args, format);
	n = vsnprintf(lines, sizeof(lines), format, args);
	va_end(args);
	if (n < 0)
		return;
	if ((size_t)n >= sizeof(lines))
		n = sizeof(lines) - 1;
	while (
	    sendto(notify->fd, lines, (size_t)n, MSG_NOSIGNAL,
		(const struct sockaddr *)&notify->to, notify->to_bytes) < 0 &&
	    errno == EINTR)
		;
}
