// SPDX-License-Identifier: GPL-2.0-or-later
/* u-model.c - sources of a model: what their n is, in a tree that is read, written and picked from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "flow/input.h"
#include "flow/ops.h"
#include "unit.h"

#define METRICS "# metric cpu us\n# metric ticks ms samples\n# metric faults events faults.samples\n"
#define COUNTERS "# metric samples samples\n# metric faults.samples samples\n"
#define HEAD "# levels\n# n calls\n" METRICS COUNTERS
#define NODES "0\t1\t10\t0\t0\t0\t0\ta\n1\t20\t30\t40\t2\t41\t1\tb\n1\t0\t0\t35\t4\t36\t2\tc\n"

static struct model m;

static int read_tree(const char *text, struct err *e)
{
	return input_tree(&m, text, strlen(text), e);
}

static void check_source(unsigned int i, const char *name, enum flow_n kind, uint64_t n)
{
	uint64_t total[FLOW_MAX_METRICS], first = flow_totals(&m.flow, total);

	CHECK_STR(model_str(&m, m.sources[i].name), name);
	CHECK_U64(m.sources[i].kind, kind);
	CHECK_U64(model_n(&m, i, first, total), n);
}

TEST(model_of_text_has_its_sources_and_is_written_as_it_was)
{
	struct err e = { 0 };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	CHECK_U64(read_tree(HEAD NODES, &e), 0);
	CHECK_U64(m.nr_shown, 3);
	CHECK_U64(m.nr_sources, 3);
	check_source(0, "calls", FLOW_CALLS, 21);
	check_source(1, "ticks", FLOW_SAMPLES, 77);
	check_source(2, "faults", FLOW_SAMPLES, 3);
	CHECK_U64(model_first_samples(&m), 1);
	output_tree(&m, out);
	fclose(out);
	CHECK_STR(text, HEAD NODES);
	free(text);
	model_release(&m);
}

TEST(model_picked_metrics_bring_their_sources)
{
	char *names[] = { (char *)"faults", (char *)"cpu" };
	struct err e = { 0 };

	CHECK_U64(read_tree(HEAD NODES, &e), 0);
	CHECK_U64(model_pick_metrics(&m, names, 2, &e), 0);
	CHECK_U64(m.nr_shown, 2);
	CHECK_U64(m.nr_sources, 2);
	check_source(0, "calls", FLOW_CALLS, 21);
	check_source(1, "faults", FLOW_SAMPLES, 3);
	CHECK(model_leads_source(&m, 0) && model_leads_source(&m, 1));
	/* calls stay, to hang the samples in */
	CHECK_U64(model_pick_metrics(&m, names, 1, &e), 0);
	CHECK_U64(m.nr_sources, 2);
	CHECK(!model_has_metrics(&m, 0) && model_has_metrics(&m, 1));
	check_source(1, "faults", FLOW_SAMPLES, 3);
	model_release(&m);
}

TEST(model_of_samples_counts_those_of_the_first_that_is_picked)
{
	char *names[] = { (char *)"faults", (char *)"ticks" };
	struct err e = { 0 };

	CHECK_U64(read_tree("# levels\n# n samples\n# metric ticks ms\n# metric faults events faults.samples\n"
			    "# metric faults.samples samples\n0\t40\t41\t2\t1\ta\n1\t35\t36\t4\t2\tb\n", &e), 0);
	check_source(0, "ticks", FLOW_SAMPLES, 75);
	check_source(1, "faults", FLOW_SAMPLES, 3);
	CHECK_U64(model_pick_metrics(&m, names, 2, &e), 0);
	check_source(0, "faults", FLOW_SAMPLES, 3);
	check_source(1, "ticks", FLOW_SAMPLES, 75);
	CHECK_STR(model_str(&m, m.metrics[model_counter(&m, 1)].name), "ticks.samples");
	names[0] = names[1];
	CHECK_U64(model_pick_metrics(&m, names, 1, &e), 0);
	CHECK_U64(m.flow.nr_metrics, 1);
	check_source(0, "ticks", FLOW_SAMPLES, 75);
	CHECK_U64(m.flow.nodes[1].n, 40);
	names[0] = (char *)"faults";
	CHECK(model_pick_metrics(&m, names, 1, &e) < 0);
	CHECK_STR(e.msg, "unknown metric 'faults' (available: ticks)");
	model_release(&m);
}

TEST(model_with_an_event_that_is_called_like_a_counter_reads_back)
{
	static const char text[] = "# levels\n# n samples\n# metric a ns\n# metric b ns b.samples\n"
				   "# metric b.samples events b.samples.samples\n# metric b.samples samples\n"
				   "# metric b.samples.samples samples\n0\t1\t2\t3\t4\t5\t6\tx\n";
	struct err e = { 0 };

	CHECK_U64(read_tree(text, &e), 0);
	CHECK_U64(m.nr_shown, 3);
	check_source(1, "b", FLOW_SAMPLES, 5);
	check_source(2, "b.samples", FLOW_SAMPLES, 6);
	model_release(&m);
}

TEST(model_refuses_counters_that_make_no_sense)
{
	static const char *const bad[] = {
		"# metric a ns n\n",					/* not there */
		"# metric n samples\n# metric a ns n\n",		/* before its metric */
		"# metric a ns n\n# metric n samples n\n",		/* of itself */
		"# metric a ns n\n# metric n samples k\n# metric k samples\n",	/* counted, too */
		"# metric a ns n\n# metric n samples\n# metric b ns\n",	/* not the last ones */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err e = { 0 };

		CHECK(read_tree(bad[i], &e) < 0);
		CHECK(*e.msg);
		model_release(&m);
	}
}

TEST(model_has_room_for_metrics_and_the_n_of_their_sources)
{
	char name[] = "a";
	struct err e = { 0 };

	CHECK(model_has_room(0, 0));
	CHECK(model_has_room(FLOW_MAX_METRICS, 1));
	CHECK(!model_has_room(FLOW_MAX_METRICS, 2));
	CHECK(!model_has_room(FLOW_MAX_METRICS + 1, 1));
	CHECK_U64(read_tree(HEAD NODES, &e), 0);
	model_clear(&m);
	for (; model_has_room(m.nr_shown + 1, m.nr_sources + 1); name[0]++)
		model_add_metric(&m, model_add_source(&m, FLOW_SAMPLES, name), name, "events");
	model_begin(&m);
	CHECK_U64(m.nr_sources, FLOW_MAX_METRICS / 2);
	CHECK_U64(m.flow.nr_metrics, FLOW_MAX_METRICS - 1);
	CHECK_STR(model_str(&m, m.metrics[FLOW_MAX_METRICS - 2].name), "p.samples");
	model_release(&m);
}
