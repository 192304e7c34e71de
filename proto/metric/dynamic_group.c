/*
 * dynamic_group - metric groups that programs make up: numbers of one moment,
 * with labels.
 * SPDX-License-Identifier: MIT
 */
#include "proto/metric/dynamic_group.h"

#include <stdio.h>

#include "proto/base/sort.h"
#include "proto/hash/blake2b.h"
#include "proto/record/counter_rate.h"
#include "proto/wire/wire.h"

enum { SHOWN_BYTES = 64, HASH_BYTES = 16 };

/* The texts of a definition, one behind the other. */
struct pen {
	char *at, *end;
	bool full;
};

static void
put(struct pen *pen, struct text text)
{
	if (text.bytes > (size_t)(pen->end - pen->at)) {
		pen->full = true;
		return;
	}
	pen->at = (char *)text_copy_short(
	    (unsigned char *)pen->at, text.at, text.bytes);
}

static inline void
put_byte(struct pen *pen, char c)
{
	if (pen->at == pen->end)
		pen->full = true;
	else
		*pen->at++ = c;
}

static inline bool
is_escaped(char c)
{
	return (unsigned char)c < 0x20 || c == '"' || c == '\\';
}

/* As Python's json.dumps(..., ensure_ascii=False). */
static void
put_json_text(struct pen *pen, struct text text)
{
	static const char short_form[] = "\bb\ff\nn\rr\tt\"\"\\\\";
	uint32_t plain = 0;

	put_byte(pen, '"');
	for (uint32_t i = 0; i < text.bytes; i++) {
		char c = text.at[i], escape[8];
		const char *p = short_form;

		if (!is_escaped(c))
			continue;
		while (*p != '\0' && *p != c)
			p += 2;
		if (*p != '\0')
			snprintf(escape, sizeof(escape), "\\%c", p[1]);
		else
			snprintf(escape, sizeof(escape), "\\u%04x", c);
		put(pen, (struct text){ text.at + plain, i - plain });
		put(pen, text_of(escape));
		plain = i + 1;
	}
	put(pen, (struct text){ text.at + plain, text.bytes - plain });
	put_byte(pen, '"');
}

/* ---- labels ---- */

static int
by_key(const void *a, const void *b)
{
	return text_compare(((const struct dynamic_label *)a)->key,
	    ((const struct dynamic_label *)b)->key);
}

int
dynamic_group_check_label(const struct dynamic_label *label, struct err *err)
{
	enum text_fault fault = text_check_name(label->key);
	char shown[SHOWN_BYTES];
	const char *what = NULL;

	if (fault != TEXT_OK)
		what = text_fault_words(fault);
	else if (label->key.bytes > DYNAMIC_LABEL_BYTES_MAX ||
		 label->value.bytes > DYNAMIC_LABEL_BYTES_MAX)
		what = "is longer than 128 bytes";
	else if (!text_is_utf8(label->value))
		what = "is not UTF-8";
	return what == NULL
		   ? 0
		   : err_set(err, "label '%s' %s",
			 text_quote(shown, sizeof(shown), label->key), what);
}

_Static_assert(DYNAMIC_LABEL_BYTES_MAX == 128, "the sentence says so");

static int
put_labels(struct pen *pen, struct dynamic_label *label, uint32_t labels,
    struct err *err)
{
	struct text last = { NULL, 0 };
	char shown[SHOWN_BYTES];
	uint32_t written = 0;

	sort_if_needed(label, labels, sizeof(*label), by_key);
	for (uint32_t i = 0; i < labels; i++) {
		if (dynamic_group_check_label(&label[i], err) != 0)
			return -1;
		if (i > 0 && text_equal(last, label[i].key))
			return err_set(err, "label '%s' is given twice",
			    text_quote(shown, sizeof(shown), last));
		last = label[i].key;
		if (label[i].value.bytes == 0)
			continue;
		if (written++ == DYNAMIC_LABELS_MAX)
			return err_set(
			    err, "more than %d labels", DYNAMIC_LABELS_MAX);
		put_byte(pen, written == 1 ? '{' : ',');
		put_json_text(pen, label[i].key);
		put_byte(pen, ':');
		put_json_text(pen, label[i].value);
	}
	if (written > 0)
		put_byte(pen, '}');
	return 0;
}

int
dynamic_group_put_labels(char **end, size_t room, struct dynamic_label *label,
    uint32_t labels, struct err *err)
{
	struct pen pen = { *end, *end + room, false };

	if (put_labels(&pen, label, labels, err) != 0)
		return -1;
	*end = pen.at;
	return pen.full ? err_set(err, "the labels are too long") : 0;
}

/* ---- numbers ---- */

static int
by_name(const void *a, const void *b)
{
	return text_compare(((const struct dynamic_number *)a)->name,
	    ((const struct dynamic_number *)b)->name);
}

/* Those without a unit last: in a list of words only the last can be missing.
 */
static int
by_column(const void *a, const void *b)
{
	const struct dynamic_number *x = a, *y = b;

	if ((x->unit.bytes == 0) != (y->unit.bytes == 0))
		return x->unit.bytes == 0 ? 1 : -1;
	return by_name(a, b);
}

static int
check_word(struct text word, const char *what, struct err *err)
{
	enum text_fault fault = text_check_name(word);
	char shown[SHOWN_BYTES];

	if (fault == TEXT_OK && memchr(word.at, ' ', word.bytes) == NULL)
		return 0;
	return err_set(err, "%s '%s' %s", what,
	    text_quote(shown, sizeof(shown), word),
	    fault != TEXT_OK ? text_fault_words(fault) : "has a blank");
}

int
dynamic_group_check_number(const struct dynamic_number *number, struct err *err)
{
	if (check_word(number->name, "metric", err) != 0)
		return -1;
	if (text_equal(number->name, text_of(COUNTER_RATE_BOOT_COLUMN)))
		return err_set(err,
		    "metric '" COUNTER_RATE_BOOT_COLUMN "' is poolscope's own");
	return number->unit.bytes > 0 ? check_word(number->unit, "unit", err)
				      : 0;
}

static int
check_numbers(struct dynamic_group *group, struct err *err)
{
	struct dynamic_number *number = group->number;
	char shown[SHOWN_BYTES];

	if (group->numbers == 0)
		return err_set(err, "a sample without numbers");
	if (group->numbers >= RECORD_VALUES_MAX)
		return err_set(
		    err, "more than %d numbers", RECORD_VALUES_MAX - 1);
	sort_if_needed(number, group->numbers, sizeof(*number), by_name);
	for (uint32_t i = 0; i < group->numbers; i++) {
		if (dynamic_group_check_number(&number[i], err) != 0)
			return -1;
		if (i > 0 && text_equal(number[i - 1].name, number[i].name))
			return err_set(err, "metric '%s' is given twice",
			    text_quote(shown, sizeof(shown), number[i].name));
	}
	sort_if_needed(number, group->numbers, sizeof(*number), by_column);
	return 0;
}

static bool
has_counters(const struct dynamic_group *group)
{
	for (uint32_t i = 0; i < group->numbers; i++)
		if (group->number[i].counter)
			return true;
	return false;
}

/* ---- the records ---- */

static const char *const property[] = { "labels", "names", "units", "types" };
enum { LABELS, NAMES, UNITS, TYPES, PROPERTIES };

static struct text
word_of(const struct dynamic_number *number, int list)
{
	switch (list) {
	case NAMES: return number->name;
	case UNITS: return number->unit;
	default: return text_of(number->counter ? "counter" : "gauge");
	}
}

static void
put_list(struct pen *pen, const struct dynamic_group *group, int list)
{
	static const struct dynamic_number boot = {
		.name = { COUNTER_RATE_BOOT_COLUMN,
		    sizeof(COUNTER_RATE_BOOT_COLUMN) - 1 },
		.unit = { "1", 1 },
	};
	bool first = !has_counters(group);

	if (!first)
		put(pen, word_of(&boot, list));
	for (uint32_t i = 0; i < group->numbers; i++) {
		struct text word = word_of(&group->number[i], list);

		if (word.bytes == 0)
			break;
		if (!first || i > 0)
			put(pen, text_of(" "));
		put(pen, word);
	}
}

static void
make_sample(struct dynamic_group *group, struct wire_writer *w)
{
	struct value boot = { .type = VALUE_INT, .is.i = (int64_t)group->boot };
	const char *values = (const char *)w->at + w->bytes;
	uint32_t more = has_counters(group);

	if (more > 0)
		wire_put_value(w, &boot);
	for (uint32_t i = 0; i < group->numbers; i++)
		wire_put_value(w, &group->number[i].value);
	group->sample = (struct record){
		.kind = RECORD_SAMPLE,
		.time_ns = group->time_ns,
		.has_time = true,
		.source = text_of(group->name),
		.values = group->numbers + more,
		.value_bytes = { values,
		    (uint32_t)((const char *)w->at + w->bytes - values) },
	};
}

static int
make_name(struct dynamic_group *group, struct text definition, struct err *err)
{
	unsigned char hash[HASH_BYTES];
	enum text_fault fault = text_check_name(group->origin);
	char *end = group->name;

	if (fault != TEXT_OK ||
	    group->origin.bytes > NAME_BYTES_MAX - 1 - DYNAMIC_DIGITS)
		return err_set(err, "the origin of the metric group %s",
		    text_fault_words(fault != TEXT_OK ? fault : TEXT_TOO_LONG));
	blake2b(hash, sizeof(hash), definition.at, definition.bytes);
	memcpy(end, group->origin.at, group->origin.bytes);
	end += group->origin.bytes;
	*end++ = '/';
	*text_hex(end, hash, DYNAMIC_DIGITS / 2) = '\0';
	return 0;
}

bool
dynamic_group_is(struct text name)
{
	unsigned char hash[DYNAMIC_DIGITS / 2];
	uint32_t front = name.bytes - DYNAMIC_DIGITS;

	return name.bytes > DYNAMIC_DIGITS + 1 && name.at[front - 1] == '/' &&
	       text_unhex(hash, sizeof(hash),
		   (struct text){ name.at + front, DYNAMIC_DIGITS });
}

int
dynamic_group_make(
    struct dynamic_group *group, void *room, size_t bytes, struct err *err)
{
	struct pen pen = { room, (char *)room + bytes, false };
	struct record *definition = &group->definition;
	struct text list[PROPERTIES];
	struct wire_writer w;

	if (check_numbers(group, err) != 0)
		return -1;
	for (int i = 0; i < PROPERTIES; i++) {
		list[i].at = pen.at;
		if (i > LABELS)
			put_list(&pen, group, i);
		else if (put_labels(&pen, group->label, group->labels, err) !=
			 0)
			return -1;
		list[i].bytes = (uint32_t)(pen.at - list[i].at);
		put(&pen, text_of("\n"));
	}
	if (make_name(group,
		(struct text){ room, (uint32_t)(pen.at - (char *)room) },
		err) != 0)
		return -1;
	*definition = (struct record){ .kind = RECORD_ENTITY,
		.source = text_of("set"),
		.name = text_of(group->name) };
	wire_writer_init(&w, pen.at, (size_t)(pen.end - pen.at));
	for (int i = 0; i < PROPERTIES; i++)
		if (list[i].bytes > 0) {
			wire_put_text_attribute(
			    &w, text_of(property[i]), list[i]);
			definition->attributes++;
		}
	definition->pairs = (struct text){ pen.at, (uint32_t)w.bytes };
	make_sample(group, &w);
	if (pen.full || w.full)
		return err_set(err,
		    "the numbers and labels of a sample do not fit into %zu "
		    "bytes",
		    bytes);
	return 0;
}
