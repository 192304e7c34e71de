/*
 * labels - the labels of a metric group, as its property `labels` has them.
 * SPDX-License-Identifier: MIT
 */
#include "proto/metric/labels.h"

#include <string.h>

#include "proto/metric/dynamic_group.h"

struct reading {
	const char *at, *end;
	char *to; /* texts without their escapes */
	char room[2 * DYNAMIC_LABELS_MAX * DYNAMIC_LABEL_BYTES_MAX];
};

static bool
take(struct reading *reading, char c)
{
	if (reading->at == reading->end || *reading->at != c)
		return false;
	reading->at++;
	return true;
}

/* What follows a backslash. */
static bool
take_escape(struct reading *reading, char *c)
{
	static const char short_form[] = "b\bf\fn\nr\rt\t\"\"\\\\";
	const char *found = reading->at == reading->end
				? NULL
				: strchr(short_form, *reading->at);
	unsigned char byte[2];

	if (found != NULL && (found - short_form) % 2 == 0 && *found != '\0') {
		*c = found[1];
		reading->at++;
		return true;
	}
	if (reading->end - reading->at < 5 || *reading->at != 'u' ||
	    !text_unhex(
		byte, sizeof(byte), (struct text){ reading->at + 1, 4 }) ||
	    byte[0] != 0)
		return false;
	*c = (char)byte[1];
	reading->at += 5;
	return true;
}

static bool
take_text(struct reading *reading, struct text *text)
{
	*text = (struct text){ reading->to, 0 };
	if (!take(reading, '"'))
		return false;
	while (!take(reading, '"')) {
		char c;

		if (reading->at == reading->end ||
		    text->bytes == DYNAMIC_LABEL_BYTES_MAX)
			return false;
		c = *reading->at++;
		if (c == '\\' && !take_escape(reading, &c))
			return false;
		*reading->to++ = c;
		text->bytes++;
	}
	return true;
}

static bool
take_labels(struct reading *reading,
    struct dynamic_label label[DYNAMIC_LABELS_MAX], uint32_t *labels)
{
	*labels = 0;
	if (!take(reading, '{'))
		return false;
	do {
		if (*labels == DYNAMIC_LABELS_MAX ||
		    !take_text(reading, &label[*labels].key) ||
		    !take(reading, ':') ||
		    !take_text(reading, &label[*labels].value))
			return false;
		++*labels;
	} while (take(reading, ','));
	return take(reading, '}') && reading->at == reading->end;
}

/* Read and written again, they must be the same bytes. */
int
labels_check(struct text labels, struct err *err)
{
	struct dynamic_label label[DYNAMIC_LABELS_MAX];
	struct reading reading = { labels.at, labels.at + labels.bytes,
		.to = reading.room };
	char written[DYNAMIC_LABELS_BYTES_MAX], *end = written;
	uint32_t count;

	if (labels.bytes > sizeof(written) ||
	    !take_labels(&reading, label, &count))
		return err_set(err,
		    "the labels are not a JSON object of 1 to %d texts, each "
		    "of 1 to %d bytes, written without blanks",
		    DYNAMIC_LABELS_MAX, DYNAMIC_LABEL_BYTES_MAX);
	if (dynamic_group_put_labels(
		&end, sizeof(written), label, count, err) != 0)
		return -1;
	if (!text_equal(
		labels, (struct text){ written, (uint32_t)(end - written) }))
		return err_set(err,
		    "the labels are not sorted, one is empty, or one is "
		    "escaped in another way");
	return 0;
}
