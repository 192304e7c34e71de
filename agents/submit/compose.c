/*
 * compose - makes a record from the event or span of a command.
 * SPDX-License-Identifier: MIT
 */
#include "agents/submit/compose.h"

#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <wchar.h>
#include <wctype.h>

#include "proto/config/instance.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"

static int
check_name(struct text t, const char *what, struct err *err)
{
	enum text_fault fault = text_check_name(t);
	char shown[64];

	if (fault == TEXT_OK)
		return 0;
	return err_set(err, "%s '%s' %s", what,
	    text_quote(shown, sizeof(shown), t), text_fault_words(fault));
}

static int
take_name(char to[static NAME_BYTES_MAX + 1], struct text t, const char *what,
    struct err *err)
{
	if (check_name(t, what, err) != 0)
		return -1;
	memcpy(to, t.at, t.bytes);
	to[t.bytes] = '\0';
	return 0;
}

/* Characters beyond ASCII, by the C library's table; -1 when the result is too
 * long.  Without such a locale they are not changed. */
static int
lower_wide(char to[static NAME_BYTES_MAX + 1], struct text t)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	locale_t before;
	mbstate_t in = { 0 }, out = { 0 };
	size_t used = 0;

	if (locale == (locale_t)0)
		return 0;
	before = uselocale(locale);
	for (uint32_t i = 0; i < t.bytes;) {
		char narrow[MB_LEN_MAX];
		wchar_t wide;
		size_t n = mbrtowc(&wide, t.at + i, t.bytes - i, &in);

		if (n == 0 || n > t.bytes - i) {
			used = NAME_BYTES_MAX + 1;
			break;
		}
		i += (uint32_t)n;
		n = wcrtomb(narrow, (wchar_t)towlower((wint_t)wide), &out);
		if (n == (size_t)-1 || used + n > NAME_BYTES_MAX) {
			used = NAME_BYTES_MAX + 1;
			break;
		}
		memcpy(to + used, narrow, n);
		used += n;
	}
	uselocale(before);
	freelocale(locale);
	if (used > NAME_BYTES_MAX)
		return -1;
	to[used] = '\0';
	return 0;
}

int
compose_lower(char to[static NAME_BYTES_MAX + 1], struct text t,
    const char *what, struct err *err)
{
	bool ascii = true;

	if (take_name(to, t, what, err) != 0)
		return -1;
	for (uint32_t i = 0; i < t.bytes; i++) {
		if (to[i] >= 'A' && to[i] <= 'Z')
			to[i] = (char)(to[i] - 'A' + 'a');
		ascii &= (unsigned char)to[i] < 0x80;
	}
	if (ascii || lower_wide(to, t) == 0)
		return 0;
	return err_set(err, "%s in lower case is longer than %d bytes", what,
	    NAME_BYTES_MAX);
}

int
compose_event(struct compose *compose, struct text source, struct text name,
    struct err *err)
{
	compose->partition[0] = compose->node[0] = '\0';
	if (compose_lower(compose->source, source, "source", err) != 0 ||
	    compose_lower(compose->name, name, "event", err) != 0)
		return -1;
	hash_random_bytes(compose->uuid, sizeof(compose->uuid));
	wire_writer_init(
	    &compose->writer, compose->pairs, sizeof(compose->pairs));
	compose->record = (struct record){
		.kind = RECORD_EVENT,
		.time_ns = clock_wall_ns(),
		.has_time = true,
		.source = text_of(compose->source),
		.name = text_of(compose->name),
		.key = { (const char *)compose->uuid, RECORD_ID_BYTES },
	};
	return 0;
}

void
compose_record(struct compose *compose, const struct record *record)
{
	compose->partition[0] = compose->node[0] = '\0';
	hash_random_bytes(compose->uuid, sizeof(compose->uuid));
	compose->record = *record;
}

void
compose_span(struct compose *compose, struct text track, struct text name,
    struct text category, int64_t begin_ns, int64_t end_ns)
{
	const struct record span = {
		.kind = RECORD_SPAN,
		.time_ns = begin_ns,
		.end_ns = end_ns,
		.has_time = true,
		.has_end = true,
		.source = track,
		.name = name,
		.key = category,
	};

	wire_writer_init(
	    &compose->writer, compose->pairs, sizeof(compose->pairs));
	compose_record(compose, &span);
}

int
compose_time(struct compose *compose, struct text seconds, struct err *err)
{
	return clock_parse_seconds(seconds, &compose->record.time_ns, err);
}

int
compose_partition(
    struct compose *compose, struct text partition, struct err *err)
{
	char word[NAME_BYTES_MAX + 1], read[INSTANCE_PATH_BYTES];

	if (take_name(word, partition, "partition", err) != 0 ||
	    instance_read_partition(read, word, err) != 0)
		return -1;
	/* It has the length of the word. */
	memcpy(compose->partition, read, strlen(word) + 1);
	return 0;
}

int
compose_node(struct compose *compose, struct text node, struct err *err)
{
	return take_name(compose->node, node, "node", err);
}

/* Set the pairs so far as those of the record. */
static void
set_pairs(struct compose *compose)
{
	compose->record.pairs = (struct text){ (const char *)compose->pairs,
		(uint32_t)compose->writer.bytes };
}

int
compose_attribute(struct compose *compose, struct text key,
    const struct value *value, struct err *err)
{
	struct value there;
	char shown[64];

	if (check_name(key, "attribute", err) != 0)
		return -1;
	text_quote(shown, sizeof(shown), key);
	if (record_find_attribute(&compose->record, key, &there))
		return err_set(err, "attribute '%s' is given twice", shown);
	if (compose->record.attributes == RECORD_ATTRIBUTES_MAX)
		return err_set(
		    err, "more than %d attributes", RECORD_ATTRIBUTES_MAX);
	if (value->type == VALUE_TEXT && !text_is_utf8(value->is.text))
		return err_set(err, "attribute '%s' is not UTF-8", shown);
	if (value->type == VALUE_TEXT &&
	    value->is.text.bytes > RECORD_TEXT_BYTES_MAX)
		return err_set(err, "attribute '%s' is longer than %d bytes",
		    shown, RECORD_TEXT_BYTES_MAX);
	if (!wire_put_attribute(&compose->writer, key, value))
		return err_set(err, "the event is longer than %d bytes",
		    COMPOSE_BYTES_MAX);
	compose->record.attributes++;
	set_pairs(compose);
	return 0;
}

int
compose_pair(struct compose *compose, struct text pair, struct err *err)
{
	const char *equals =
	    pair.bytes ? memchr(pair.at, '=', pair.bytes) : NULL;
	struct value value = { .type = VALUE_TEXT };
	struct text key;
	char shown[64];

	if (equals == NULL)
		return err_set(err, "'%s' is not KEY=VALUE",
		    text_quote(shown, sizeof(shown), pair));
	key = (struct text){ pair.at, (uint32_t)(equals - pair.at) };
	value.is.text = (struct text){ equals + 1, pair.bytes - key.bytes - 1 };
	return compose_attribute(compose, key, &value, err);
}

int
compose_run(struct compose *compose, struct text run, struct err *err)
{
	struct value value = { .type = VALUE_TEXT, .is.text = run };

	if (check_name(run, "run", err) != 0)
		return -1;
	return compose_attribute(compose, text_of("run"), &value, err);
}

int
compose_received(struct compose *compose, struct text seconds, struct err *err)
{
	struct value value = { .type = VALUE_INT };

	if (clock_parse_seconds(seconds, &value.is.i, err) != 0)
		return -1;
	return compose_attribute(compose, text_of("receive_ns"), &value, err);
}

int
compose_message(struct compose *compose, struct text message, struct err *err)
{
	struct value value = { .type = VALUE_TEXT, .is.text = message };

	if (message.bytes == 0)
		return 0;
	return compose_attribute(compose, text_of("message"), &value, err);
}

int
compose_end(struct compose *compose, struct err *err)
{
	set_pairs(compose);
	return record_check(&compose->record, err);
}
