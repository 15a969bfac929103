// SPDX-License-Identifier: GPL-2.0-or-later
/* u-join.c - models with a level of labels, joined: where contexts go; nothing is lost or doubled. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "flow/check.h"
#include "model/join.h"
#include "trace/record.h"
#include "unit.h"

static void begin(struct model *m, const char *metric)
{
	model_init(m, 1, FLOW_SAMPLES);
	m->metrics[0].name = strtab_adds(&m->consumers.names, metric);
}

/* "app;worker;id=1;f;g": a process, a thread, perhaps a label, functions; [..] is a reason to wait. */
static void add(struct model *m, const char *path, uint64_t n)
{
	char *copy = xstrdup(path), *item, *save = NULL;
	uint32_t node = FLOW_NONE;
	uint64_t base = 10 * n;
	unsigned int level = 0;

	for (item = strtok_r(copy, ";", &save); item; item = strtok_r(NULL, ";", &save), level++) {
		enum consumer_kind kind = level == 0 ? CONSUMER_PROCESS : level == 1 ? CONSUMER_THREAD :
			strchr(item, '=') || !strncmp(item, "[no ", 4) ? CONSUMER_LABEL :
			*item == '[' ? CONSUMER_REASON : CONSUMER_NATIVE;

		node = flow_child(&m->flow, node, consumer_add_name(&m->consumers, kind, item, strlen(item)));
	}
	flow_add(&m->flow, node, n, &base);
	free(copy);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Contexts with something of their own: "app;worker;f 3", a line each, sorted. */
static void text_of(const struct model *m, struct buf *out)
{
	const struct flow *f = &m->flow;
	char *lines[64];
	size_t nr = 0, i;
	uint32_t at;

	for (i = 1; i < f->nr_nodes; i++) {
		struct buf b = BUF_INIT, path = BUF_INIT;

		if (!f->nodes[i].n)
			continue;
		CHECK_U64(flow_base(f, i)[0], 10 * f->nodes[i].n);
		for (at = (uint32_t)i; at; at = f->nodes[at].parent) {
			buf_reset(&b);
			buf_fmt(&b, "%s%s%s", consumer_name(&m->consumers, f->nodes[at].consumer),
				path.len ? ";" : "", path.len ? path.data : "");
			buf_reset(&path);
			buf_str(&path, b.data);
		}
		buf_fmt(&path, " %llu\n", (unsigned long long)f->nodes[i].n);
		CHECK(nr < ARRAY_SIZE(lines));
		lines[nr++] = xstrdup(path.data);
		buf_release(&b);
		buf_release(&path);
	}
	qsort(lines, nr, sizeof(*lines), compare_lines);
	buf_str(out, "");
	for (i = 0; i < nr; i++) {
		buf_str(out, lines[i]);
		free(lines[i]);
	}
}

static void check_text(const struct model *m, const char *want)
{
	struct flow_check c[FLOW_NR_CHECKS];
	struct buf b = BUF_INIT;

	CHECK_U64(flow_check(&m->flow, c), 0);
	text_of(m, &b);
	if (strcmp(b.data, want))
		fprintf(stderr, "# got:\n%s# want:\n%s", b.data, want);
	CHECK(!strcmp(b.data, want));
	buf_release(&b);
}

static void joined(struct join *j, struct model *m)
{
	model_finish(m);
	join_model(j, m);
}

TEST(join_puts_the_server_below_what_all_samples_of_the_client_passed_through)
{
	struct model client, server;
	struct join j;

	join_init(&j, "id");
	begin(&client, "cpu");
	add(&client, "shop;main;id=1;serve;call;encode", 3);
	add(&client, "shop;main;id=1;serve;call;write", 2);
	add(&client, "shop;main;id=2;serve;call;encode", 1);
	add(&client, "shop;main;[no id];idle", 4);
	joined(&j, &client);
	CHECK_U64(j.nr_values, 2);
	CHECK_U64(j.nr_joined, 0);
	check_text(&client, "shop;main;idle 4\nshop;main;serve;call;encode 4\nshop;main;serve;call;write 2\n");
	begin(&server, "cpu");
	add(&server, "db;worker;id=1;query;sort", 7);
	add(&server, "db;other;id=2;query", 5);
	add(&server, "db;worker;id=3;query", 2);
	add(&server, "db;worker;[no id];poll", 1);
	joined(&j, &server);
	CHECK_U64(j.nr_values, 3);
	CHECK_U64(j.nr_joined, 2);
	check_text(&server, "db;worker;poll 1\ndb;worker;query 2\n"
			    "shop;main;serve;call;[rpc];db;other;query 5\n"
			    "shop;main;serve;call;[rpc];db;worker;query;sort 7\n");
	model_release(&client);
	model_release(&server);
	join_release(&j);
}

TEST(join_prefers_the_context_that_waited_most)
{
	struct model client, server;
	struct join j;

	join_init(&j, "id");
	begin(&client, "wall");
	add(&client, "shop;main;id=1;serve;encode;[on CPU]", 9);
	add(&client, "shop;main;id=1;serve;lock;[futex]", 2);
	add(&client, "shop;main;id=1;serve;call;read;[socket]", 5);
	add(&client, "shop;helper;id=1;log;[disk]", 4);
	joined(&j, &client);
	begin(&server, "wall");
	add(&server, "db;worker;id=1;query", 1);
	joined(&j, &server);
	check_text(&server, "shop;main;serve;call;read;[rpc];db;worker;query 1\n");
	model_release(&client);
	model_release(&server);
	join_release(&j);
}

TEST(join_goes_on_from_a_server_to_the_next)
{
	struct model m[3];
	struct join j;
	int i;

	join_init(&j, "id");
	for (i = 0; i < 3; i++)
		begin(&m[i], "cpu");
	add(&m[0], "web;main;id=1;a;f", 1);
	add(&m[1], "shop;main;id=1;b;f", 1);
	add(&m[2], "db;main;id=1;c;f", 1);
	for (i = 0; i < 3; i++)
		joined(&j, &m[i]);
	check_text(&m[2], "web;main;a;[rpc];shop;main;b;[rpc];db;main;c;f 1\n");
	for (i = 0; i < 3; i++)
		model_release(&m[i]);
	join_release(&j);
}

TEST(join_distinguishes_the_served_call_from_the_one_made)
{
	struct model m[3];
	struct join j;
	int i;

	join_init(&j, "id");
	for (i = 0; i < 3; i++)
		begin(&m[i], "cpu");
	add(&m[0], "web;main;id=>1;get;send", 1);
	add(&m[1], "shop;main;id=1;serve;f", 2);
	add(&m[1], "shop;main;id=1>2;serve;query;send", 1);
	add(&m[1], "shop;main;id=1>3;serve;pay;send", 1);
	add(&m[1], "shop;main;id=9>4;serve;query;send", 1);
	add(&m[2], "db;main;id=2;select;f", 4);
	add(&m[2], "db;main;id=4;select;f", 8);
	for (i = 0; i < 3; i++)
		joined(&j, &m[i]);
	check_text(&m[1], "shop;main;serve;query;send 1\n"
			  "web;main;get;[rpc];shop;main;serve;f 2\n"
			  "web;main;get;[rpc];shop;main;serve;pay;send 1\n"
			  "web;main;get;[rpc];shop;main;serve;query;send 1\n");
	check_text(&m[2], "shop;main;serve;query;[rpc];db;main;select;f 8\n"
			  "web;main;get;[rpc];shop;main;serve;query;[rpc];db;main;select;f 4\n");
	/* the first calls only, and is labelled all the same */
	CHECK_U64(j.nr_values, 2);
	CHECK_U64(j.nr_joined, 2);
	CHECK(j.is_labelled);
	for (i = 0; i < 3; i++)
		model_release(&m[i]);
	join_release(&j);
}

/* Of any depth, with the label or without. */
static void random_path(char *path, size_t size)
{
	static const char *const levels[] = { "p%u", ";t%u", ";id=%u", ";f%u", ";f%u", ";[r%u]" };
	size_t depth = 1 + unit_random() % ARRAY_SIZE(levels), i, len = 0;

	for (i = 0; i < depth; i++) {
		const unsigned int which = unit_random() % 4;

		if (i == 2 && !which)
			continue;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		len += (size_t)snprintf(path + len, size - len, levels[i], which);
#pragma GCC diagnostic pop
	}
}

TEST(join_keeps_all_sums_whatever_the_trees)
{
	uint64_t before[FLOW_MAX_METRICS], after[FLOW_MAX_METRICS];
	struct flow_check c[FLOW_NR_CHECKS];
	char path[128];
	int round, i, k;

	for (round = 0; round < 100; round++) {
		struct model m[3];
		struct join j;

		join_init(&j, "id");
		for (i = 0; i < 3; i++) {
			uint64_t n;

			begin(&m[i], "cpu");
			for (k = 0; k < 40; k++) {
				random_path(path, sizeof(path));
				add(&m[i], path, unit_random() % 4);
			}
			model_finish(&m[i]);
			n = flow_totals(&m[i].flow, before);
			join_model(&j, &m[i]);
			CHECK_U64(flow_totals(&m[i].flow, after), n);
			CHECK_U64(after[0], before[0]);
			CHECK_U64(flow_check(&m[i].flow, c), 0);
		}
		for (i = 0; i < 3; i++)
			model_release(&m[i]);
		join_release(&j);
	}
}
