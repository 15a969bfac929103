// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * reports.c - the commands that read a trace, with the options that lead to different code.
 * Standard output and error are nowhere, so that nothing is measured but the work.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "cmd.h"
#include "reports.h"

static const char *const lines[] = {
	"report --xarc",
	"report --xtree",
	"report --xprof",
	"report --rt",
	"report --gen",
	"report --calls",
	"report --calls --format json --thread main --from 1ms",
	"report --calls=* --limit 3",
	"report --calls=* --format json --metric cpu",
	"report --calls=*a* --format csv",
	"report --flow --format json --metric cpu",
	"report --condu",
	"report --condu --format csv --symbol main --limit 9",
	"report --gen --event gc,exception --symbol main",
	"report --tprof",
	"report --threads",
	"report --sched",
	"report --arc",
	"report --annotate *",
	"report --annotate *a* --format json --by-kind --hide-inlined",
	"report --annotate *.* --format csv --signatures --around 0",
	"report --check",
	"report --check --replay",
	"report --check --sched",
	"report --xarc --lines --signatures --format json",
	"report --xarc --samples --by-kind --format csv",
	"report --xarc --merge-threads --merge-processes --fold package",
	"report --xarc --symbol main --limit 3",
	"report --xtree --lines --by-kind --format json",
	"report --xtree --format csv --no-calibrate",
	"report --xtree --format tree --replay",
	"report --xtree --prune 5 --hide-inlined --hide-kernel",
	"report --xtree --module java --addresses --percent",
	"report --xprof --lines --signatures --format csv",
	"report --xprof --format json --fold module",
	"report --xprof --fold class --absolute --sort name",
	"report --rt --format json",
	"report --rt --format csv --no-calibrate",
	"report --gen --format json",
	"report --gen --format csv",
	"report --tprof --format json --stanza PTMS",
	"report --tprof --format csv --clip 1",
	"report --threads --format json",
	"report --threads --format csv --sort latency",
	"report --sched --format json",
	"report --sched --format csv --from 1ms --to 1s",
	"report --leaks",
	"report --leaks=class --format json",
	"report --leaks=native",
	"report --wakers",
	"report --wakers --format json --from 1ms",
	"report --wakers=chains --format csv --limit 9",
	"report --log --format json",
	"report --log=gc,deopt --thread main --limit 3",
	"report --log --format csv --from 1ms --to 1s",
	"report --gc",
	"report --jit --format json",
	"report --classes --format csv",
	"report --exceptions",
	"report --timeline",
	"report --arc --format json --every-instruction",
	"report --arc --format csv --compact --collapse-plt",
	"report --arc --collapse-kernel --signatures",
	"report --xtree --collapse-plt --from-zero",
	"report --xprof --pid 1 --tid 1 --comm java --thread main --cpu 0",
	"report --format folded --metric cpu",
	"report --format pprof",
	"report --format pprof --samples --fold class",
	"report --format speedscope",
	"report --format hprof",
	"report --locks --format hprof",
	"report --format callgrind",
	"report --format callgrind --samples --prune 1",
	"report --format otlp",
	"report --format otlp-json --merge-threads --from 1ms",
	"report --format firefox",
	"report --format chrome",
	"report --format chrome --symbol main --thread main",
	"report --format html",
	"report --format html --thread main --from 1ms --prune 1",
	"report --format html --samples",
	/* words are separated by blanks, those of SQL by tabs */
	"query select\t*\tfrom\tnodes\tjoin\tfunctions\tf\ton\tf.id=function",
	"query select\tcount(*),sum(base)\tfrom\tnodes\tgroup\tby\tfunction --format json",
	"query select\tsum(n.base)\tfrom\tnodes\tb\tjoin\tnodes\tn\ton\tn.id\tbetween\tb.id\tand\tb.last --format csv",
	"query select\t*\tfrom\txprof\torder\tby\tname --by-kind --signatures",
	"query select\t*\tfrom\tarcs\twhere\tfunction\tin\t(1,2,3,9) --no-calibrate",
	"query select\t*\tfrom\tsamples\ts,stacks\tk,frames\tf\twhere\tk.id=stack\tand\tf.id=k.frame --samples",
	"query select\t*\tfrom\tcalls\tc\tleft\tjoin\tcalls\tp\ton\tp.id=c.parent",
	"query select\t*\tfrom\tevents\tunion\tall\tselect\tt.*,1,2,3,4,5,6,7,8,9\tfrom\tlabels\tt --from 1ms --replay",
	"query select\t*\tfrom\tdispatches,threads\twhere\tthreads.id=out\tlimit\t99",
	"query select\t*\tfrom\tprocesses,modules,metrics\tlimit\t999",
	"dump",
	"dump --raw --format json",
	"dump --chunks",
	"dump --schema --format json",
};

/* All that there is here. */
const struct command_group command_groups[] = { { "", { &cmd_report, &cmd_query, &cmd_dump, NULL } },
	{ NULL, { NULL } } };

static void run_line(const char *line, const char *path)
{
	char *words = xstrdup(line), *rest = words, *word, *argv[24];
	const struct command *c = command_find(strsep(&rest, " "));
	struct command_opts o;
	int argc = 0, nr_operands;
	struct err e;

	argv[argc++] = "-i";
	argv[argc++] = (char *)path;
	while ((word = strsep(&rest, " ")))
		argv[argc++] = word;
	argv[argc] = NULL;
	command_opts_init(&o, c);
	if (opt_parse(o.table, o.values, argc, argv, false, &nr_operands, &e))
		abort();		/* a line of the table is wrong */
	c->run(o.values, nr_operands, argv + argc - nr_operands);
	command_opts_release(&o);
	free(words);
}

size_t reports_nr(void)
{
	return ARRAY_SIZE(lines);
}

void reports_run(const uint8_t *data, size_t len, size_t i)
{
	static bool silent;
	char path[32];
	int fd;

	if (!silent) {
		stdout = fopen("/dev/null", "w");
		if (!getenv("FUZZ_VERBOSE"))
			stderr = stdout;
		silent = true;
	}
	fd = memfd_create("trace", MFD_CLOEXEC);
	if (fd < 0 || io_write_all(fd, data, len))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	run_line(lines[i % ARRAY_SIZE(lines)], path);
	close(fd);
}
