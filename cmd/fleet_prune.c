// SPDX-License-Identifier: GPL-2.0-or-later
/* fleet_prune.c - "arcprof fleet prune": how long a server keeps rows, and their sums. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd.h"
#include "fleet.h"

static void fleet_prune_cmd_say(const struct pruned *x)
{
	if (x->nr_added)
		log_warn("%s lacked part of %" PRIu64 " sum%s, as after a crash of the server; added from %s",
			 x->sums, x->nr_added, plural(x->nr_added), x->table);
	if (x->nr_partitions)
		log_info("dropped %" PRIu64 " partition%s of %s: %" PRIu64 " rows, %.1f MB", x->nr_partitions,
			 plural(x->nr_partitions), x->table, x->nr_rows, x->len_bytes / 1e6);
}

/* Return what the user has to say otherwise, or NULL. */
static const char *bad_keeping(const uint64_t keep_ns[PRUNE_NR])
{
	uint64_t longest_ns = 0;
	int i;

	for (i = 0; i < PRUNE_NR; i++) {
		if (keep_ns[i] && keep_ns[i] < longest_ns)
			return "sums must be kept for at least as long as the rows that they are sums of";
		longest_ns = MAX(longest_ns, keep_ns[i]);
	}
	return longest_ns ? NULL : "say how long to keep what: --keep-nodes, --keep-hours, --keep-days";
}

int fleet_prune(const struct fleet_opts *o, int nr, char **operands)
{
	const uint64_t keep_ns[PRUNE_NR] = { o->keep_nodes_ns, o->keep_hours_ns, o->keep_days_ns };
	const char *bad = nr == 1 && http_is_url(operands[0]) ? bad_keeping(keep_ns) :
			  "prune takes the URL of a server: http://host:8123/";
	struct pruned pruned[PRUNE_NR] = { 0 };
	uint64_t keep_s[PRUNE_NR];
	struct http_server server;
	struct err e = { 0 };
	int i, r;

	if (bad) {
		log_error("%s", bad);
		return EXIT_USAGE;
	}
	for (i = 0; i < PRUNE_NR; i++)
		keep_s[i] = keep_ns[i] / 1000000000 + (keep_ns[i] % 1000000000 > 0);
	server = fleet_server(o, operands[0]);
	r = prune_tables(&server, keep_s, clock_real_ns() / 1000000000, pruned, &e);
	for (i = 0; i < PRUNE_NR; i++)
		fleet_prune_cmd_say(&pruned[i]);
	return r ? log_err(&e) : 0;
}
