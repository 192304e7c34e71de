/*
 * attention - why a node needs attention.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/nodes/attention.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "proto/format/quantity.h"
#include "proto/os/clock.h"

const char *const attention_words[ATTENTIONS] = { "gone", "silent", "phase",
	"start", "lost", "spool", "clock" };

#define SPOOL_MANY (16.0 * (1 << 20))     /* bytes that are not sent */
#define CLOCK_OFF  (NS_PER_SECOND / 10.0) /* ns */

unsigned
attention_judge(const struct attention_facts *node)
{
	unsigned attention = 0;

	if (node->is_retired)
		return 0;
	if (node->is_gone)
		attention |= 1u << ATTENTION_GONE;
	if (node->is_silent)
		attention |= 1u << ATTENTION_SILENT;
	if (node->is_long)
		attention |= 1u << ATTENTION_PHASE;
	else if (node->is_incomplete)
		attention |= 1u << ATTENTION_START;
	if (node->has_lost)
		attention |= 1u << ATTENTION_LOST;
	if (!isnan(node->spool) && node->spool > SPOOL_MANY)
		attention |= 1u << ATTENTION_SPOOL;
	if (!isnan(node->clock_ns) && fabs(node->clock_ns) > CLOCK_OFF)
		attention |= 1u << ATTENTION_CLOCK;
	return attention;
}

unsigned
attention_weight(unsigned attention)
{
	unsigned weight = 0;

	for (int i = 0; i < ATTENTIONS; i++)
		weight |= (attention >> i & 1) << (ATTENTIONS - 1 - i);
	return weight;
}

enum { NAME_SHOWN_MAX = 100 };

static void
put_phase(char *to, size_t room, const struct attention_phase *phase)
{
	char open[QUANTITY_TEXT_BYTES], usual[QUANTITY_TEXT_BYTES];
	struct text name = phase->name;

	/* Not within a character. */
	if (name.bytes > NAME_SHOWN_MAX)
		name.bytes = NAME_SHOWN_MAX;
	while (name.bytes > 0 && name.bytes < phase->name.bytes &&
	       ((unsigned char)name.at[name.bytes] & 0xC0) == 0x80)
		name.bytes--;
	snprintf(to, room, "%.*s open %s, usual %s", (int)name.bytes, name.at,
	    quantity_time(open, phase->open * 1e9),
	    quantity_time(usual, phase->usual * 1e9));
}

const char *
attention_text(char to[static ATTENTION_TEXT_BYTES], unsigned attention,
    const struct attention_phase *phase)
{
	char text[ATTENTION_TEXT_BYTES];
	const char *const words[ATTENTIONS] = { "not heard", "not heard", text,
		"start incomplete", "records lost", "spool fills",
		"clock off" };
	size_t used = 0;

	if ((attention & 1u << ATTENTION_PHASE) != 0)
		put_phase(text, sizeof(text), phase);
	to[0] = '\0';
	for (int i = 0; i < ATTENTIONS; i++) {
		if ((attention & 1u << i) == 0)
			continue;
		snprintf(to + used, ATTENTION_TEXT_BYTES - used, "%s%s",
		    used > 0 ? "; " : "", words[i]);
		used += strlen(to + used);
	}
	return to;
}

void
attention_counts(
    char *to, size_t room, const uint64_t counts[static ATTENTIONS])
{
	static const char *const words[ATTENTIONS] = { "gone", "silent",
		"in a phase too long", "whose start is incomplete",
		"that lost records", "whose spool fills",
		"whose clock is off" };
	size_t used = 0;

	to[0] = '\0';
	for (int i = 0; i < ATTENTIONS; i++) {
		if (counts[i] == 0)
			continue;
		snprintf(to + used, room - used, "%s%" PRIu64 " %s",
		    used > 0 ? ", " : "", counts[i], words[i]);
		used += strlen(to + used);
	}
}
