/*
 * db_marks - which pages of a file were checked.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/pages/marks.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

enum {
	WORD_BITS = 64,
	WORDS = 4096,                    /* of a block */
	BLOCK_PAGES = WORDS * WORD_BITS, /* 1 GiB of pages of 4 KiB */
	BLOCKS = 1 << 16,                /* 64 TiB; pages beyond have no mark */
};

struct block {
	_Atomic uint64_t words[WORDS];
};

struct db_marks {
	_Atomic unsigned end; /* no block from here on */
	_Atomic(struct block *) blocks[BLOCKS];
};

struct db_marks *
db_marks_new(void)
{
	return memory_zero(1, sizeof(struct db_marks));
}

void
db_marks_free(struct db_marks **marks)
{
	if (*marks == NULL)
		return;
	for (unsigned i = 0; i < atomic_load(&(*marks)->end); i++)
		free(atomic_load(&(*marks)->blocks[i]));
	free(*marks);
	*marks = NULL;
}

bool
db_marks_has(const struct db_marks *marks, uint64_t page)
{
	const struct block *block;
	uint64_t word;

	if (page / BLOCK_PAGES >= BLOCKS)
		return false;
	block = atomic_load_explicit(
	    &marks->blocks[page / BLOCK_PAGES], memory_order_acquire);
	if (block == NULL)
		return false;
	word =
	    atomic_load_explicit(&block->words[page % BLOCK_PAGES / WORD_BITS],
		memory_order_relaxed);
	return (word >> page % WORD_BITS & 1) != 0;
}

static struct block *
add_block(struct db_marks *marks, unsigned at)
{
	struct block *made = memory_zero(1, sizeof(*made)), *other = NULL;
	unsigned end = atomic_load(&marks->end);

	if (!atomic_compare_exchange_strong(&marks->blocks[at], &other, made)) {
		free(made);
		made = other;
	}
	while (end <= at &&
	       !atomic_compare_exchange_weak(&marks->end, &end, at + 1))
		;
	return made;
}

void
db_marks_set(struct db_marks *marks, uint64_t page)
{
	unsigned at = (unsigned)(page / BLOCK_PAGES);
	struct block *block;

	if (page / BLOCK_PAGES >= BLOCKS)
		return;
	block = atomic_load(&marks->blocks[at]);
	if (block == NULL)
		block = add_block(marks, at);
	atomic_fetch_or_explicit(&block->words[page % BLOCK_PAGES / WORD_BITS],
	    UINT64_C(1) << page % WORD_BITS, memory_order_relaxed);
}

void
db_marks_clear(struct db_marks *marks)
{
	struct block *block;

	for (unsigned i = 0; i < atomic_load(&marks->end); i++) {
		block = atomic_load(&marks->blocks[i]);
		if (block == NULL)
			continue;
		for (unsigned j = 0; j < WORDS; j++)
			atomic_store_explicit(
			    &block->words[j], 0, memory_order_relaxed);
	}
}
