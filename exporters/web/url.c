/*
 * web_url - the target of a request: a path of segments, and parameters.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/url.h"

#include <stdbool.h>
#include <string.h>

/* Cut `t` at the first byte of `at`; returns what was before it. */
static struct text
cut(struct text *t, char at, bool *found)
{
	const char *end = t->bytes > 0 ? memchr(t->at, at, t->bytes) : NULL;
	struct text front = *t;

	*found = end != NULL;
	if (end == NULL) {
		t->at += t->bytes;
		t->bytes = 0;
		return front;
	}
	front.bytes = (uint32_t)(end - t->at);
	t->at = end + 1;
	t->bytes -= front.bytes + 1;
	return front;
}

/* Decode into url->decoded; NULL: `err` says why. */
static const char *
decode(struct web_url *url, struct text t, bool plus, const char *what,
    struct err *err)
{
	char *to = url->decoded + url->used;
	uint32_t bytes = 0;
	char shown[80];

	for (uint32_t i = 0; i < t.bytes; i++) {
		unsigned char c = (unsigned char)t.at[i];

		if (c == '%') {
			if (t.bytes - i < 3 ||
			    !text_unhex(
				&c, 1, (struct text){ t.at + i + 1, 2 })) {
				err_set(err,
				    "%s '%s' has a %% without two hexadecimal "
				    "digits",
				    what, text_quote(shown, sizeof(shown), t));
				return NULL;
			}
			i += 2;
		} else if (c == '+' && plus) {
			c = ' ';
		}
		to[bytes++] = (char)c;
	}
	to[bytes] = '\0';
	url->used += bytes + 1;
	for (uint32_t i = 0; i < bytes; i++)
		if ((unsigned char)to[i] < 0x20 || to[i] == 0x7f) {
			err_set(err, "%s '%s' has a control character", what,
			    text_quote(shown, sizeof(shown), t));
			return NULL;
		}
	if (text_is_utf8((struct text){ to, bytes }))
		return to;
	err_set(err, "%s '%s' is not UTF-8", what,
	    text_quote(shown, sizeof(shown), t));
	return NULL;
}

static int
add_segment(struct web_url *url, struct text t, struct err *err)
{
	const char *segment;

	if (url->segment_count == WEB_URL_SEGMENTS_MAX)
		return err_set(err, "the path has more than %d parts",
		    WEB_URL_SEGMENTS_MAX);
	segment = decode(url, t, false, "the path part", err);
	if (segment == NULL)
		return -1;
	url->segments[url->segment_count++] = segment;
	return 0;
}

static int
add_parameter(struct web_url *url, struct text t, struct err *err)
{
	bool found;
	struct text name = cut(&t, '=', &found);
	struct web_parameter *parameter =
	    &url->parameters[url->parameter_count];

	if (url->parameter_count == WEB_URL_PARAMETERS_MAX)
		return err_set(
		    err, "more than %d parameters", WEB_URL_PARAMETERS_MAX);
	parameter->name = decode(url, name, true, "the parameter", err);
	if (parameter->name == NULL)
		return -1;
	parameter->value = decode(url, t, true, "the value", err);
	if (parameter->value == NULL)
		return -1;
	url->parameter_count++;
	return 0;
}

int
web_url_parse(struct web_url *url, struct text target, struct err *err)
{
	struct text query = target, path;
	bool found, more = true;

	url->segment_count = 0;
	url->parameter_count = 0;
	url->used = 0;
	if (target.bytes > WEB_URL_BYTES_MAX)
		return err_set(err, "the target has more than %d bytes",
		    WEB_URL_BYTES_MAX);
	if (target.bytes == 0 || target.at[0] != '/')
		return err_set(err, "the target does not begin with /");
	path = cut(&query, '?', &found);
	path.at++;
	path.bytes--;
	while (more)
		if (add_segment(url, cut(&path, '/', &more), err) != 0)
			return -1;
	for (more = found; more;) {
		struct text one = cut(&query, '&', &more);

		if (one.bytes > 0 && add_parameter(url, one, err) != 0)
			return -1;
	}
	return 0;
}

char *
web_url_encode(char *to, struct text t)
{
	for (uint32_t i = 0; i < t.bytes; i++) {
		unsigned char c = (unsigned char)t.at[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || (c != 0 && strchr("-._~", c))) {
			*to++ = (char)c;
		} else {
			*to++ = '%';
			to = text_hex(to, &c, 1);
		}
	}
	return to;
}
