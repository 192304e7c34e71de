/*
 * exposition - write metrics as OpenMetrics 1.0 or as Prometheus text 0.0.4.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/metrics/exposition.h"

#include <math.h>
#include <stdbool.h>

#include "proto/base/number.h"

const char *const exposition_type_words[] = { "gauge", "counter", "histogram",
	"info" };

void
exposition_begin(
    struct exposition *exposition, const struct exposition_family *family)
{
	exposition->family = family;
	exposition->family_is_new = true;
}

/* In the older format a counter is named with its suffix, and there are neither
 * infos nor units. */
static void
put_metadata(const struct exposition *exposition)
{
	const struct exposition_family *family = exposition->family;
	bool is_old = exposition->format == EXPOSITION_PROMETHEUS;
	bool is_info = family->type == EXPOSITION_INFO;
	const char *suffix = is_old && family->type == EXPOSITION_COUNTER
				 ? "_total"
			     : is_old && is_info ? "_info"
						 : "";

	fprintf(exposition->file, "# HELP %s%s %s\n", family->name, suffix,
	    family->help);
	fprintf(exposition->file, "# TYPE %s%s %s\n", family->name, suffix,
	    is_old && is_info ? "gauge" : exposition_type_words[family->type]);
	if (!is_old && family->unit[0] != '\0')
		fprintf(exposition->file, "# UNIT %s %s\n", family->name,
		    family->unit);
}

static bool
is_plain(uint32_t character)
{
	return (character >= 0x20 && character < 0x7F) ||
	       (character >= 0xA0 && character != 0xFFFD) || character == '\t';
}

/* Most are: nothing is to be escaped. */
static bool
is_ascii(struct text value)
{
	for (uint32_t i = 0; i < value.bytes; i++)
		if (value.at[i] < 0x20 || value.at[i] > 0x7E ||
		    value.at[i] == '"' || value.at[i] == '\\')
			return false;
	return true;
}

static void
put_label_value(FILE *file, struct text value)
{
	if (is_ascii(value)) {
		fwrite_unlocked(value.at, 1, value.bytes, file);
		return;
	}
	while (value.bytes > 0) {
		uint32_t character, bytes = text_character(value, &character);

		if (bytes == 1 && (character == '\\' || character == '"'))
			fprintf(file, "\\%c", (int)character);
		else if (bytes == 1 && character == '\n')
			fputs("\\n", file);
		else if (bytes > 0 && is_plain(character))
			fwrite(value.at, 1, bytes, file);
		else
			for (uint32_t i = 0; i < (bytes > 0 ? bytes : 1); i++)
				fprintf(file, "\xEF\xBF\xBD%02x",
				    (unsigned char)value.at[i]);
		if (bytes == 0)
			bytes = 1;
		value.at += bytes;
		value.bytes -= bytes;
	}
}

static void
put_whole(FILE *file, int64_t value)
{
	uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char digits[24], *at = digits + sizeof(digits);

	do
		*--at = (char)('0' + left % 10);
	while ((left /= 10) > 0);
	if (value < 0)
		*--at = '-';
	fwrite_unlocked(at, 1, (size_t)(digits + sizeof(digits) - at), file);
}

static void
put_value(FILE *file, double value)
{
	char text[NUMBER_BYTES];

	if (isnan(value)) {
		fputs("NaN", file);
	} else if (isinf(value)) {
		fputs(value > 0 ? "+Inf" : "-Inf", file);
	} else if (fabs(value) < 0x1p53 && value == floor(value)) {
		put_whole(file, (int64_t)value);
	} else {
		number_repr(text, value);
		fputs(text, file);
	}
}

void
exposition_sample(struct exposition *exposition, const char *suffix,
    const struct exposition_label labels[static EXPOSITION_LABELS],
    double value)
{
	FILE *file = exposition->file;
	int i;

	exposition->samples++;
	if (exposition->take != NULL)
		exposition->take(
		    exposition->arg, exposition->family, suffix, labels, value);
	if (file == NULL)
		return;
	if (exposition->family_is_new)
		put_metadata(exposition);
	exposition->family_is_new = false;
	fputs_unlocked(exposition->family->name, file);
	fputs_unlocked(suffix, file);
	for (i = 0; i < EXPOSITION_LABELS && labels[i].name != NULL; i++) {
		putc_unlocked(i == 0 ? '{' : ',', file);
		fputs_unlocked(labels[i].name, file);
		fputs_unlocked("=\"", file);
		put_label_value(file, labels[i].value);
		putc_unlocked('"', file);
	}
	fputs_unlocked(i > 0 ? "} " : " ", file);
	put_value(file, value);
	putc_unlocked('\n', file);
}

void
exposition_end(struct exposition *exposition)
{
	if (exposition->format == EXPOSITION_OPENMETRICS)
		fputs("# EOF\n", exposition->file);
}
