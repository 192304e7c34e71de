/*
 * labels - any text is labels exactly when proto/wire.md, "Labels", says so;
 * and what a program's labels are written as, is.
 * SPDX-License-Identifier: MIT
 */
#include "proto/metric/labels.h"

#include <stdio.h>
#include <string.h>

#include "proto/metric/dynamic_group.h"
#include "tests/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
skip(struct text *rest, const char *what)
{
	uint32_t bytes = (uint32_t)strlen(what);

	if (rest->bytes < bytes || memcmp(rest->at, what, bytes) != 0)
		return false;
	*rest = (struct text){ rest->at + bytes, rest->bytes - bytes };
	return true;
}

/* The one way in which a byte is written, if it has to be escaped. */
static bool
spell(char to[static 8], int c)
{
	static const char letters[] = "btn?fr"; /* from U+0008 */

	if (c == '"' || c == '\\')
		snprintf(to, 8, "\\%c", c);
	else if (c >= '\b' && c <= '\r' && c != '\v')
		snprintf(to, 8, "\\%c", letters[c - '\b']);
	else
		snprintf(to, 8, "\\u%04x", (unsigned)c);
	return c < 0x20 || c == '"' || c == '\\';
}

/* A key or a value of 1 to 128 bytes behind its escapes. */
static bool
skip_text(struct text *rest, char to[static 128], struct text *text)
{
	*text = (struct text){ to, 0 };
	if (!skip(rest, "\""))
		return false;
	while (!skip(rest, "\"")) {
		char spelled[8];
		int c = 0;

		while (c < 0x80 && !(spell(spelled, c) && skip(rest, spelled)))
			c++;
		if (c == 0x80) {
			if (rest->bytes == 0 ||
			    spell(spelled, rest->at[0] & 0xFF))
				return false;
			c = rest->at[0];
			*rest = (struct text){ rest->at + 1, rest->bytes - 1 };
		}
		if (text->bytes == 128)
			return false;
		to[text->bytes++] = (char)c;
	}
	return text->bytes > 0;
}

static bool
are_labels(struct text rest)
{
	char keys[2][128], of_value[128];
	struct text key, value, last = { NULL, 0 };
	int count = 0;

	if (!skip(&rest, "{"))
		return false;
	do {
		if (count++ == 16 || !skip_text(&rest, keys[count % 2], &key) ||
		    !skip(&rest, ":") || !skip_text(&rest, of_value, &value) ||
		    text_check_name(key) != TEXT_OK || !text_is_utf8(value) ||
		    (count > 1 && text_compare(last, key) >= 0))
			return false;
		last = key;
	} while (skip(&rest, ","));
	return skip(&rest, "}") && rest.bytes == 0;
}

/* A key and its value, a line each. */
static void
try_written(struct text rest)
{
	static char written[DYNAMIC_LABELS_BYTES_MAX];
	struct dynamic_label label[2 * DYNAMIC_LABELS_MAX];
	struct err err = { 0 };
	char *end = written;
	uint32_t labels = 0;

	while (labels < 2 * DYNAMIC_LABELS_MAX &&
	       text_next_line(&rest, &label[labels].key) &&
	       text_next_line(&rest, &label[labels].value))
		labels++;
	if (dynamic_group_put_labels(
		&end, sizeof(written), label, labels, &err) != 0) {
		MUST(strcmp(err.text, "the labels are too long") != 0);
		return;
	}
	MUST(end == written ||
	     labels_check((struct text){ written, (uint32_t)(end - written) },
		 &err) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text text = { (const char *)data, (uint32_t)size };
	struct err err = { 0 };
	bool taken = labels_check(text, &err) == 0;

	MUST(taken == are_labels(text));
	MUST(taken == (err.text[0] == '\0'));
	MUST(taken || text_check_name(text_of(err.text)) == TEXT_OK);
	try_written(text);
	return 0;
}
