/*
 * texts_same - columns of texts that an earlier column has, too.
 *
 * Events of one test run have its id, each name of an event in a column of its
 * own.  Such a column is the places of its texts in the earlier one.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/chunk/chunk_private.h"

#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/hash/hash.h"

enum {
	COLUMNS = 4,    /* that are remembered */
	TEXTS_MIN = 16, /* in a column; fewer are not worth it */
	NEW_SHARE = 8,  /* at most one of 8 is not in the earlier one */
	TRIED = 16,     /* texts that say whether it is worth a try */
};

/* An earlier column. */
struct earlier {
	uint32_t column, count;
	struct buffer bytes; /* copies of its texts */
	struct text *text;
	uint32_t *slot; /* place of a text + 1; 0: empty */
	uint32_t slots, room;
};

struct chunk_same {
	struct earlier earlier[COLUMNS];
	uint32_t noted; /* columns of this chunk */
	struct hash_key key;
	struct chunk_ints place;
	struct text *fresh; /* texts that are not in the earlier column */
	uint32_t room;
};

static struct chunk_same *
same_of(struct chunk_writer *w)
{
	if (w->same == NULL) {
		w->same = memory_zero(1, sizeof(*w->same));
		w->same->key = hash_key_random();
	}
	return w->same;
}

void
chunk_same_reset(struct chunk_writer *w)
{
	if (w->same != NULL)
		w->same->noted = 0;
}

void
chunk_same_free(struct chunk_same **old)
{
	struct chunk_same *same = *old;

	*old = NULL;
	if (same == NULL)
		return;
	for (unsigned i = 0; i < COLUMNS; i++) {
		buffer_clear(&same->earlier[i].bytes);
		free(same->earlier[i].text);
		free(same->earlier[i].slot);
	}
	free(same->place.at);
	free(same->fresh);
	free(same);
}

/* The slot of a text, or the empty one where it belongs. */
static uint32_t *
slot_of(const struct chunk_same *same, const struct earlier *earlier,
    struct text text)
{
	uint32_t mask = earlier->slots - 1;
	uint32_t at =
	    (uint32_t)hash_bytes(same->key, text.at, text.bytes) & mask;

	while (earlier->slot[at] != 0 &&
	       !text_equal(earlier->text[earlier->slot[at] - 1], text))
		at = (at + 1) & mask;
	return &earlier->slot[at];
}

static void
make_room(struct earlier *earlier, uint32_t count, size_t bytes)
{
	uint32_t slots = 64;

	while (slots < 2 * count)
		slots *= 2;
	if (count > earlier->room) {
		earlier->room = count;
		earlier->text = memory_resize(
		    earlier->text, count * sizeof(*earlier->text));
	}
	if (slots > earlier->slots) {
		free(earlier->slot);
		earlier->slot = memory_alloc(slots * sizeof(*earlier->slot));
		earlier->slots = slots;
	}
	memset(earlier->slot, 0, earlier->slots * sizeof(*earlier->slot));
	earlier->bytes.bytes = 0;
	buffer_need(&earlier->bytes, bytes + 1); /* so that views stay valid */
}

void
chunk_note_texts(
    struct chunk_writer *w, const struct text *values, uint32_t count)
{
	struct chunk_same *same = same_of(w);
	struct earlier *earlier = &same->earlier[same->noted % COLUMNS];
	size_t bytes = 0;

	if (count < TEXTS_MIN)
		return;
	for (uint32_t i = 0; i < count; i++)
		bytes += values[i].bytes;
	make_room(earlier, count, bytes);
	earlier->column = w->columns;
	earlier->count = count;
	same->noted++;
	for (uint32_t i = 0; i < count; i++) {
		struct text *text = &earlier->text[i];
		uint32_t *slot;

		*text = (struct text){ (const char *)earlier->bytes.at +
					   earlier->bytes.bytes,
			values[i].bytes };
		buffer_put_text(&earlier->bytes, values[i]);
		slot = slot_of(same, earlier, *text);
		if (*slot == 0)
			*slot = i + 1;
	}
}

/* How many of the texts are not in the earlier column; those are `fresh`. */
static uint32_t
find_places(struct chunk_same *same, const struct earlier *earlier,
    const struct text *values, uint32_t count)
{
	int64_t *place = chunk_ints_room(&same->place, count);
	uint32_t fresh = 0;

	if (count > same->room) {
		same->room = count;
		same->fresh =
		    memory_resize(same->fresh, count * sizeof(*same->fresh));
	}
	for (uint32_t i = 0; i < count; i++) {
		place[i] = *slot_of(same, earlier, values[i]);
		if (place[i] == 0)
			same->fresh[fresh++] = values[i];
		if (i + 1 == TRIED && fresh > TRIED / 2)
			return count;
	}
	return fresh;
}

bool
chunk_write_same(
    struct chunk_writer *w, const struct text *values, uint32_t count)
{
	struct chunk_same *same = same_of(w);
	uint32_t known = same->noted < COLUMNS ? same->noted : COLUMNS;

	for (uint32_t i = 0; count >= TEXTS_MIN && i < known; i++) {
		const struct earlier *earlier =
		    &same->earlier[(same->noted - 1 - i) % COLUMNS];
		unsigned char method = CHUNK_SAME;
		uint32_t fresh = find_places(same, earlier, values, count);

		if (fresh > count / NEW_SHARE)
			continue;
		buffer_put(&w->body, &method, 1);
		varint_put(&w->body, w->columns - earlier->column);
		chunk_write_ints(w, same->place.at, count, false);
		chunk_write_no_words(w, same->fresh, fresh);
		return true;
	}
	return false;
}
