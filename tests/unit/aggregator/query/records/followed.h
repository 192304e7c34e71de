/*
 * followed - a journal of several partitions, made from a seed, and the
 * expected records of a reader that follows one of them: for tests of the
 * reader and of sources.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_AGGREGATOR_QUERY_RECORDS_FOLLOWED_H
#define TESTS_UNIT_AGGREGATOR_QUERY_RECORDS_FOLLOWED_H

#include "tests/unit/aggregator/rig.h"

#include "aggregator/journal/entry.h"

enum { SENT_MAX = 40000, PARTITIONS = 3, FOLLOWED_SESSIONS = 4 };

/* A record that was sent: as a line, and the fields that queries select by. */
struct sent {
	uint64_t entry;
	unsigned partition;
	enum record_kind kind;
	int64_t time_ns;
	char node[16], name[32], track[16];
	char *line;
};

static struct rig rig;
static struct sent sent[SENT_MAX];
static unsigned sents;
static uint64_t entries; /* the last one's number */
static uint64_t seqs[PARTITIONS][FOLLOWED_SESSIONS];
static const char *const partitions[PARTITIONS] = { RIG_PARTITION, "b$p", "c" };

static inline int
set_up(void **state)
{
	(void)state;
	rig_open(&rig, NULL);
	sents = 0;
	entries = 0;
	memset(seqs, 0, sizeof(seqs));
	return 0;
}

static inline int
tear_down(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sents; i++)
		free(sent[i].line);
	rig_close(&rig);
	return 0;
}

static inline char *
line_of(const struct record *record, uint64_t entry)
{
	char *line = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&line, &bytes);

	fprintf(out, "#%llu %lld ", (unsigned long long)entry,
	    (long long)record->receive_ns);
	rig_line(out, record);
	fclose(out);
	return line;
}

static inline void
note_sent(unsigned partition, const struct record *record, const char *name)
{
	struct sent *to = &sent[sents++];

	assert_true(sents <= SENT_MAX);
	*to = (struct sent){ .entry = entries + 1,
		.partition = partition,
		.kind = record->kind,
		.time_ns = record->time_ns,
		.line = line_of(record, entries + 1) };
	snprintf(to->node, sizeof(to->node), "%.*s", (int)record->node.bytes,
	    record->node.at);
	snprintf(to->track, sizeof(to->track), "%.*s",
	    (int)record->source.bytes, record->source.at);
	snprintf(to->name, sizeof(to->name), "%s", name);
}

/* A record of any kind; `name` becomes what name patterns are matched
 * against. */
static inline struct record
any_record(uint64_t *random, struct wire_writer *values, char name[static 32])
{
	static const char *const sources[] = { "cpu", "prep", "mem" };
	static const char *const names[] = { "start", "end", "x" };
	const char *source = sources[check_random(random) % 3];
	const char *last = names[check_random(random) % 3];
	struct value value = { VALUE_FLOAT,
		{ .f = (double)(check_random(random) % 1000) / 8 } };
	struct record record = {
		.time_ns = RIG_T0 + (int64_t)(check_random(random) % 1000),
		.has_time = true,
		.source = text_of(source),
		.name = text_of(last)
	};
	unsigned i, count = (unsigned)(check_random(random) % 4);

	record.kind = (enum record_kind)(1 + check_random(random) % 5);
	snprintf(name, 32, "%s:%s", source, last);
	record.end_ns = record.time_ns + 5;
	switch (record.kind) {
	case RECORD_SAMPLE:
		for (i = 0; i < count; i++)
			wire_put_value(values, &value);
		record.values = count;
		record.value_bytes = (struct text){ (const char *)values->at,
			(uint32_t)values->bytes };
		record.name.bytes = 0;
		snprintf(name, 32, "%s", source);
		break;
	case RECORD_SPAN:
		snprintf(name, 32, "%s", last);
		record.has_end = true;
		break;
	case RECORD_GAP:
		record.count = 1 + check_random(random) % 9;
		snprintf(name, 32, "%s", source);
		record.has_end = true;
		break;
	case RECORD_ENTITY: record.has_time = false; break;
	default: break;
	}
	if (!record.has_end)
		record.end_ns = 0;
	if (!record.has_time)
		record.time_ns = 0;
	if (record.kind == RECORD_EVENT || record.kind == RECORD_ENTITY) {
		wire_put_text_attribute(
		    values, text_of("word"), text_of(names[count % 3]));
		record.attributes = 1;
		record.pairs = (struct text){ (const char *)values->at,
			(uint32_t)values->bytes };
	}
	return record;
}

/* An entry of the journal with this header and body. */
static inline void
append_entry(const struct wire_header *header, struct text body, bool rejected)
{
	struct journal_note note = { .seq = header->seq,
		.receive_ns = RIG_T0 + (int64_t)entries,
		.rejected = rejected,
		.fault = rejected ? WIRE_RECORD : WIRE_OK };
	struct err err = { 0 };
	size_t bytes = wire_frame(rig.frame, sizeof(rig.frame), header, body);

	assert_true(bytes > 0);
	if (!rig.begun)
		rig_good(journal_begin(rig.journal, &err), &err);
	rig.begun = true;
	journal_append(rig.journal,
	    (struct text){ (const char *)rig.frame, (uint32_t)bytes }, &note);
	entries++;
}

static inline struct wire_header
any_header(unsigned partition, unsigned session, enum wire_type type)
{
	return (struct wire_header){ .type = type,
		.partition = text_of(partitions[partition]),
		.node = text_of("head"),
		.session = rig_session(session),
		.seq = ++seqs[partition][session] };
}

/* A gap of some numbers, lost by the sender. */
static inline void
send_lost(uint64_t *random, unsigned partition, unsigned session)
{
	struct wire_header header = any_header(partition, session, WIRE_GAP);
	struct record record = { .kind = RECORD_GAP,
		.node = header.node,
		.id = { .session = header.session, .seq = header.seq },
		.receive_ns = RIG_T0 + (int64_t)entries,
		.has_time = true,
		.has_end = true,
		.source = text_of("batch"),
		.name = text_of("refused"),
		.count = 1 + check_random(random) % 5 };

	record.time_ns = record.end_ns = record.receive_ns;
	header.last_seq = header.seq + record.count - 1;
	header.reason = WIRE_GAP_REFUSED;
	seqs[partition][session] = header.last_seq;
	note_sent(partition, &record, "batch");
	append_entry(&header, (struct text){ NULL, 0 }, false);
}

static inline void
send_batch(
    uint64_t *random, unsigned partition, unsigned session, bool rejected)
{
	static unsigned char packed[WIRE_FRAME_BYTES_MAX];
	static const char *const nodes[] = { "node-1", "node-2", "head" };
	struct wire_header header = any_header(partition, session, WIRE_BATCH);
	struct text body;
	uint32_t i, count = (uint32_t)(check_random(random) % 12);
	const char *node = nodes[2];

	if (check_random(random) % 20 == 0)
		count = 300;
	for (i = 0; i < count; i++) {
		unsigned char bytes[256];
		struct wire_writer values;
		struct record record;
		char name[32];

		wire_writer_init(&values, bytes, sizeof(bytes));
		record = any_record(random, &values, name);
		if (check_random(random) % 3 == 0) {
			node = nodes[check_random(random) % 3];
			wire_put_context(&rig.batch, text_of(node));
		}
		assert_true(wire_put_record(&rig.batch, &record));
		record.node = text_of(node);
		record.id = (struct record_id){ header.session, header.seq, i };
		record.receive_ns = RIG_T0 + (int64_t)entries;
		if (!rejected)
			note_sent(partition, &record, name);
	}
	body =
	    (struct text){ (const char *)rig.bytes, (uint32_t)rig.batch.bytes };
	header.records = rig.batch.records;
	header.body_bytes = body.bytes;
	if (check_random(random) % 2 == 0) {
		uint32_t bytes =
		    (uint32_t)wire_compress(packed, sizeof(packed), body);

		if (bytes > 0) {
			header.codec = WIRE_ZSTD;
			body = (struct text){ (const char *)packed, bytes };
		}
	}
	append_entry(&header, body, rejected);
	wire_writer_init(&rig.batch, rig.bytes, sizeof(rig.bytes));
}

/* Add this many entries to the journal on disk. */
static inline void
send_entries(uint64_t *random, unsigned many)
{
	while (many-- > 0) {
		unsigned partition =
		    (unsigned)(check_random(random) % PARTITIONS);
		unsigned session =
		    (unsigned)(check_random(random) % FOLLOWED_SESSIONS);

		if (check_random(random) % 12 == 0)
			send_lost(random, partition, session);
		else
			send_batch(random, partition, session,
			    check_random(random) % 15 == 0);
	}
	rig_flush(&rig);
}

static inline bool
sent_is_wanted(
    const struct sent *one, unsigned partition, const struct wire_query *query)
{
	return one->partition == partition &&
	       (query->kinds >> one->kind & 1) != 0 &&
	       (query->node.bytes == 0 ||
		   text_match(query->node, text_of(one->node))) &&
	       (query->name.bytes == 0 ||
		   text_match(query->name, text_of(one->name))) &&
	       (query->columns.bytes == 0 || one->kind != RECORD_SPAN ||
		   text_match(query->columns, text_of(one->track))) &&
	       (one->kind == RECORD_ENTITY || (one->time_ns >= query->from_ns &&
						  one->time_ns < query->to_ns));
}

/* The lines of entries from `from` on; a new string. */
static inline char *
lines_wanted(unsigned partition, const struct wire_query *query, uint64_t from)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	for (unsigned i = 0; i < sents; i++)
		if (sent[i].entry >= from &&
		    sent_is_wanted(&sent[i], partition, query))
			fputs(sent[i].line, out);
	fclose(out);
	return text;
}

static inline struct wire_query
any_query(uint64_t *random)
{
	static const char *const nodes[] = { "", "", "node-?", "head", "*1" };
	static const char *const names[] = { "", "", "cpu*", "*:start", "mem",
		"batch" };
	static const char *const tracks[] = { "", "c*" };
	struct wire_query query =
	    rig_query((unsigned)(check_random(random) % 64), 0);

	if (check_random(random) % 3 == 0)
		query.kinds = 63;
	query.node = text_of(nodes[check_random(random) % 5]);
	query.name = text_of(names[check_random(random) % 6]);
	query.columns = text_of(tracks[check_random(random) % 2]);
	if (check_random(random) % 3 == 0) {
		query.from_ns = RIG_T0 + 300;
		query.to_ns = RIG_T0 + 800;
	}
	return query;
}

/* Purge this many entries from the front. */
static inline void
purge_entries(uint32_t many)
{
	struct err err = { 0 };

	rig_good(journal_begin(rig.journal, &err), &err);
	assert_int_equal(
	    journal_purge(rig.journal, UINT64_MAX, INT64_MAX, UINT64_MAX, many),
	    many);
	assert_int_equal(journal_commit(rig.journal, &err), DB_OK);
}

#endif
