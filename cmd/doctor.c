// SPDX-License-Identifier: GPL-2.0-or-later
/* doctor.c - "arcprof doctor": what this machine and this user can measure, and how to get the rest. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/quote.h"
#include "base/term.h"
#include "cmd.h"
#include "doctor.h"
#include "jvm/jdk.h"
#include "report/sheet.h"
#include "version.h"

struct doctor_opts {
	uint64_t pid;
	const char *jvm;
	int format;
};

static const struct opt doctor_opts[] = {
	OPT_GROUP("What to check instead of the machine"),
	OPT_COUNT('p', "pid", struct doctor_opts, pid, "pid", NULL, "check the JVM with this process ID: the facts that arcprof relies on"),
	OPT_STR(0, "jvm", struct doctor_opts, jvm, "java-home", NULL, "check an installed JDK or JRE, which is started for this"),
	OPT_GROUP("Output"),
	OPT_FORMAT(struct doctor_opts, format, FORMATS_TABLE, "output format"),
	OPT_END
};

static const struct {
	const char *name;
	enum term_style style;
} states[] = {
	[CHECK_OK] = { "ok", TERM_GREEN },
	[CHECK_LIMITED] = { "limited", TERM_YELLOW },
	[CHECK_NO] = { "no", TERM_RED },
};

struct machine {
	struct utsname uts;
	char cpu[128];		/* model, or "" */
	bool is_virtual;
	long nr_cpus;
};

static void machine_read(struct machine *m)
{
	struct buf b = BUF_INIT;
	const char *s;

	memset(m, 0, sizeof(*m));
	uname(&m->uts);
	m->nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (!io_slurp("/proc/cpuinfo", &b) && b.len) {
		s = strstr(b.data, "model name");
		s = s ? strstr(s, ": ") : NULL;
		if (s)
			snprintf(m->cpu, sizeof(m->cpu), "%.*s", (int)strcspn(s + 2, "\n"), s + 2);
		m->is_virtual = strstr(b.data, " hypervisor") != NULL;
	}
	buf_release(&b);
}

enum { TITLE_COLUMN = 11, TEXT_COLUMN = 27, WIDTH_OF_FILES = 100 };

/* Print text from TEXT_COLUMN on, wrapped between words to the width of the terminal. */
static void print_wrapped(const char *text, int indent, int width)
{
	struct buf shown = BUF_INIT;
	int col = indent;

	text = quote_str(&shown, text);
	while (*text) {
		int len = strcspn(text, " ");

		if (col > indent && col + 1 + len > width) {
			printf("\n%*s", indent, "");
			col = indent;
		} else if (col > indent) {
			putchar(' ');
			col++;
		}
		printf("%.*s", len, text);
		col += len;
		text += len;
		text += strspn(text, " ");
	}
	buf_release(&shown);
}

static void print_check(const struct check *c, const struct finding *f, int width)
{
	char line[400];

	printf("  %s%-*s%s%-*s", term_style(states[f->state].style), TITLE_COLUMN - 2, states[f->state].name,
	       term_style(TERM_PLAIN), TEXT_COLUMN - TITLE_COLUMN, c->title);
	if (f->state == CHECK_OK && f->found[0]) {
		snprintf(line, sizeof(line), "%s (%s)", c->gives, f->found);
		print_wrapped(line, TEXT_COLUMN, width);
	} else {
		print_wrapped(c->gives, TEXT_COLUMN, width);
	}
	if (f->state != CHECK_OK && f->found[0]) {
		printf("\n%*s", TEXT_COLUMN, "");
		print_wrapped(f->found, TEXT_COLUMN, width);
	}
	if (f->remedy[0]) {
		printf("\n%*s%s-> ", TEXT_COLUMN, "", term_style(TERM_CYAN));
		print_wrapped(f->remedy, TEXT_COLUMN + 3, width);
		fputs(term_style(TERM_PLAIN), stdout);
	}
	putchar('\n');
}

static void doctor_print_text(const struct machine *m)
{
	int width = term_width() ? MAX(term_width(), 60) : WIDTH_OF_FILES;
	unsigned int counts[ARRAY_SIZE(states)] = { 0 };
	size_t g, i;

	printf("%sarcprof %s%s on Linux %s %s, %ld CPU%s%s%s%s, as %s\n", term_style(TERM_BOLD),
	       ARCPROF_VERSION, term_style(TERM_PLAIN), m->uts.release, m->uts.machine, m->nr_cpus,
	       plural(m->nr_cpus), m->cpu[0] ? ", " : "", m->cpu,
	       m->is_virtual ? ", virtual machine" : "", geteuid() ? "an unprivileged user" : "root");
	for (g = 0; g < nr_check_groups; g++) {
		printf("\n%s%s%s\n", term_style(TERM_BOLD), check_groups[g].title, term_style(TERM_PLAIN));
		for (i = 0; i < check_groups[g].nr_checks; i++) {
			const struct check *c = &check_groups[g].checks[i];
			struct finding f = { 0 };

			c->look(&f);
			counts[f.state]++;
			print_check(c, &f, width);
		}
	}
	printf("\n%u ok, %u limited, %u no\n", counts[CHECK_OK], counts[CHECK_LIMITED], counts[CHECK_NO]);
}

static void json_jdks(struct json *j)
{
	struct jdk_list l;
	size_t i;

	jdk_list_find(&l);
	json_array(j, "jdks");
	for (i = 0; i < l.nr_jdks; i++) {
		json_object(j, NULL);
		json_str(j, "home", l.jdks[i].home);
		json_str(j, "version", l.jdks[i].version);
		json_str(j, "vendor", l.jdks[i].vendor);
		json_bool(j, "in_path", l.jdks[i].on_path);
		json_bool(j, "javac", l.jdks[i].has_javac);
		json_end(j);
	}
	json_end(j);
	jdk_list_release(&l);
}

static void add_checks(struct sheet *s)
{
	static const struct sheet_column columns[] = {
		{ "id" }, { "group" }, { "title" }, { "state" }, { "gives" }, { "found" }, { "remedy" },
	};
	size_t g, i;

	json_array(&s->json, "checks");
	sheet_columns(s, columns, ARRAY_SIZE(columns));
	for (g = 0; g < nr_check_groups; g++) {
		for (i = 0; i < check_groups[g].nr_checks; i++) {
			const struct check *c = &check_groups[g].checks[i];
			struct finding f = { 0 };

			c->look(&f);
			sheet_row(s, NULL, (const struct cell[]){
				cell_text(c->id),
				cell_text(check_groups[g].title),
				cell_text(c->title),
				cell_text(states[f.state].name),
				cell_text(c->gives),
				cell_text(f.found),
				cell_text(f.remedy[0] ? f.remedy : NULL),
			});
		}
	}
	json_end(&s->json);
}

static void doctor_print_rows(const struct machine *m, int format)
{
	struct sheet s;
	struct json *j = &s.json;

	sheet_init(&s, format, stdout);
	json_object(j, NULL);
	json_str(j, "arcprof", ARCPROF_VERSION);
	json_str(j, "kernel", m->uts.release);
	json_str(j, "machine", m->uts.machine);
	json_str(j, "cpu", m->cpu[0] ? m->cpu : NULL);
	json_bool(j, "virtual", m->is_virtual);
	json_i64(j, "cpus", m->nr_cpus);
	json_u64(j, "uid", geteuid());
	json_jdks(j);
	add_checks(&s);
	json_end(j);
}

static int doctor_run(void *opts, int nr_operands, char **operands)
{
	const struct doctor_opts *o = opts;
	struct machine m;

	if (nr_operands) {
		log_error("'%s': no operand is expected", operands[0]);
		return EXIT_USAGE;
	}
	if (o->pid && o->jvm) {
		log_error("cannot be combined: --pid and --jvm");
		return EXIT_USAGE;
	}
	if (o->pid > INT32_MAX) {
		log_error("no process has the number %" PRIu64, o->pid);
		return EXIT_FAILURE;
	}
	if (o->pid || o->jvm)
		return doctor_jvm(o->pid, o->jvm, o->format);
	machine_read(&m);
	if (o->format == FORMAT_TEXT)
		doctor_print_text(&m);
	else
		doctor_print_rows(&m, o->format);
	return 0;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "say what this user can measure on this machine, and how to get the rest",
	.flags = CMD_PAGER,
	.opts = doctor_opts,
	.opts_size = sizeof(struct doctor_opts),
	.run = doctor_run,
};
