/*
 * clickhouse_url - the address of an archive.
 * SPDX-License-Identifier: MIT
 */
#include "proto/clickhouse/url.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "proto/base/number.h"

enum { PORT_PLAIN = 8123, PORT_TLS = 8443, SHOWN_BYTES = 128 };

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool
clickhouse_name_is_good(struct text name)
{
	if (name.bytes == 0 || name.bytes >= CLICKHOUSE_NAME_BYTES ||
	    is_digit(name.at[0]))
		return false;
	for (uint32_t i = 0; i < name.bytes; i++)
		if (!is_letter(name.at[i]) && !is_digit(name.at[i]) &&
		    name.at[i] != '_')
			return false;
	return true;
}

bool
clickhouse_host_is_good(struct text name)
{
	bool ip6 = name.bytes > 0 && name.at[0] == '[';

	if (name.bytes == 0 || name.bytes >= CLICKHOUSE_HOST_BYTES)
		return false;
	if (ip6 && (name.bytes < 4 || name.at[name.bytes - 1] != ']'))
		return false;
	for (uint32_t i = ip6; i < name.bytes - ip6; i++) {
		char c = name.at[i];

		if (!is_digit(c) && !is_letter(c) && c != '.' &&
		    (ip6 ? c != ':' : c != '-' && c != '_'))
			return false;
	}
	return true;
}

bool
clickhouse_host_is_here(const struct clickhouse_host *host)
{
	unsigned a, b, c, d;
	int end = 0;

	if (strcasecmp(host->name, "localhost") == 0 ||
	    strcmp(host->name, "[::1]") == 0)
		return true;
	return sscanf(host->name, "%3u.%3u.%3u.%3u%n", &a, &b, &c, &d, &end) ==
		   4 &&
	       host->name[end] == '\0' && a == 127 && b < 256 && c < 256 &&
	       d < 256;
}

static void
copy(char *to, struct text from)
{
	memcpy(to, from.at, from.bytes);
	to[from.bytes] = '\0';
}

/* Take what is in front of `end`, and `end` itself; false: it is not there. */
static bool
take_until(struct text *rest, char end, struct text *front)
{
	const char *at =
	    rest->bytes > 0 ? memchr(rest->at, end, rest->bytes) : NULL;

	if (at == NULL)
		return false;
	*front = (struct text){ rest->at, (uint32_t)(at - rest->at) };
	rest->bytes -= front->bytes + 1;
	rest->at = at + 1;
	return true;
}

static int
parse_user(struct clickhouse_url *url, struct text user, struct err *err)
{
	if (user.bytes > 0 && memchr(user.at, ':', user.bytes) != NULL)
		return err_set(err,
		    "the address has a password, which others could read; "
		    "write it into a file");
	if (!clickhouse_name_is_good(user))
		return err_set(err,
		    "the user of the address is not a name of letters, digits "
		    "and '_'");
	copy(url->user, user);
	return 0;
}

static int
parse_host(struct clickhouse_url *url, struct text word, struct err *err)
{
	struct clickhouse_host *host = &url->host[url->hosts];
	char shown[SHOWN_BYTES];
	struct text name = word, port = { NULL, 0 };
	uint64_t number = url->tls ? PORT_TLS : PORT_PLAIN;
	uint32_t from = 0;

	text_quote(shown, sizeof(shown), word);
	if (url->hosts >= CLICKHOUSE_HOSTS_MAX)
		return err_set(err, "the address has more than %d hosts",
		    CLICKHOUSE_HOSTS_MAX);
	/* The colons of an IPv6 address are in brackets. */
	if (word.bytes > 0 && word.at[0] == '[')
		while (from < word.bytes && word.at[from] != ']')
			from++;
	while (from < word.bytes && word.at[from] != ':')
		from++;
	name.bytes = from;
	if (from < word.bytes)
		port =
		    (struct text){ word.at + from + 1, word.bytes - from - 1 };
	if (!clickhouse_host_is_good(name))
		return err_set(err, "'%s' is not a host", shown);
	if (from < word.bytes && (number_parse_u64(port, &number, NULL) != 0 ||
				     number == 0 || number > UINT16_MAX))
		return err_set(
		    err, "the port of '%s' is not a number of 1..65535", shown);
	copy(host->name, name);
	host->port = (uint16_t)number;
	url->hosts++;
	return 0;
}

int
clickhouse_url_parse(
    struct clickhouse_url *url, const char *text, struct err *err)
{
	static const char plain[] = "clickhouse://", tls[] = "clickhouses://";
	struct text rest = text_of(text), hosts, part;

	*url = (struct clickhouse_url){ .user = "default" };
	url->tls = strncmp(text, tls, sizeof(tls) - 1) == 0;
	if (!url->tls && strncmp(text, plain, sizeof(plain) - 1) != 0)
		return err_set(err, "the address does not begin with %s or %s",
		    plain, tls);
	rest.at += url->tls ? sizeof(tls) - 1 : sizeof(plain) - 1;
	rest.bytes -= url->tls ? sizeof(tls) - 1 : sizeof(plain) - 1;
	if (take_until(&rest, '@', &part) && parse_user(url, part, err) != 0)
		return -1;
	if (!take_until(&rest, '/', &hosts))
		return err_set(err,
		    "the address has no database; write "
		    "%sHOST/DATABASE",
		    url->tls ? tls : plain);
	if (!clickhouse_name_is_good(rest))
		return err_set(err,
		    "the database of the address is not a name: a letter or "
		    "'_', then letters, digits and '_', at most %d",
		    CLICKHOUSE_NAME_BYTES - 1);
	copy(url->database, rest);
	while (take_until(&hosts, ',', &part))
		if (parse_host(url, part, err) != 0)
			return -1;
	return parse_host(url, hosts, err);
}
