// SPDX-License-Identifier: GPL-2.0-or-later
/* doctor_jvm.c - "arcprof doctor -p" and "--jvm": which facts that arcprof rests on a JVM has. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/term.h"
#include "cmd.h"
#include "doctor.h"
#include "jvm/factcheck.h"
#include "report/sheet.h"

static const char *const kinds[] = {
	[FACT_OFFSET] = "field", [FACT_STATIC] = "static field", [FACT_SIZE] = "size", [FACT_NUMBER] = "number",
	[FACT_IMPORT] = "import", [FACT_JAVA] = "Java member", [FACT_STUB] = "stub",
	[FACT_PROBE] = "probe",
};

struct state {
	const char *word;
	enum term_style style;
};

static struct state fact_state(const struct facts *f, const struct fact *x, const struct fact *found)
{
	if (x->kind >= FACT_JAVA)
		return (struct state){ "agent", TERM_PLAIN };
	if (found)
		return (struct state){ "ok", TERM_GREEN };
	if (x->differs)
		return (struct state){ "no", TERM_RED };
	if (x->optional || (f->jdk && f->jdk < facts_of[x->feature].since))
		return (struct state){ "n/a", TERM_YELLOW };
	return (struct state){ "no", TERM_RED };
}

static void put_fact_name(struct buf *b, const struct fact *x)
{
	buf_reset(b);
	buf_fmt(b, "%s%s%s", x->type ? x->type : "", x->type && x->name ? "." : "", x->name ? x->name : "");
	if (x->exact)
		buf_fmt(b, " = %" PRIi64, x->want);
}

static void put_fact_value(struct buf *b, const struct fact *x)
{
	buf_reset(b);
	if (x->kind == FACT_STATIC)
		buf_fmt(b, "libjvm.so+0x%" PRIx64, x->value);
	else if (x->kind == FACT_IMPORT)
		buf_str(b, "imported");
	else
		buf_fmt(b, "%" PRIi64 "%s", (int64_t)x->value, x->kind == FACT_SIZE ? " bytes" : "");
}

/* Put what a recording says where the fact is missing. */
static void put_said(struct buf *b, const struct fact *x)
{
	struct buf name = BUF_INIT;

	buf_reset(b);
	put_fact_name(&name, x);
	if (x->feature == FACTS_WALK)
		buf_str(b, "the agent knows too little of it");
	else
		buf_fmt(b, "not recorded: %s: this JVM has no %s", facts_of[x->feature].name, name.data);
	buf_release(&name);
}

static void print_facts_head(const struct facts *f, enum facts_feature feature)
{
	const struct fact *missing = facts_missing(f, feature);
	const struct facts_of *of = &facts_of[feature];
	struct buf said = BUF_INIT;

	printf("\n%s%s%s\n", term_style(TERM_BOLD), of->name, term_style(TERM_PLAIN));
	if (missing) {
		put_said(&said, missing);
		printf("  reports say \"%s\"\n", said.data);
	} else if (f->jdk && f->jdk < of->since) {
		printf("  not before JDK %d\n", of->since);
	}
	buf_release(&said);
}

static void print_facts_text(const struct facts *f, const char *what)
{
	struct buf name = BUF_INIT, value = BUF_INIT;
	uint64_t nr_ok = 0, nr_missing = 0;
	const struct fact *found;
	size_t i, next;

	printf("%sJDK %d%s, %s\n", term_style(TERM_BOLD), f->jdk, term_style(TERM_PLAIN), what);
	for (i = 0; i < f->nr_rows; i = next) {
		const struct fact *x = &f->rows[i];
		struct state s;

		if (!i || x->feature != f->rows[i - 1].feature)
			print_facts_head(f, x->feature);
		next = facts_next(f, i, &found);
		s = fact_state(f, x, found);
		x = found ? found : x;
		put_fact_name(&name, x);
		buf_reset(&value);
		if (found)
			put_fact_value(&value, found);
		printf("  %s%-7s%s%-14s%s%s%s\n", term_style(s.style), s.word, term_style(TERM_PLAIN),
		       kinds[x->kind], name.data, found ? ": " : "", found ? value.data : "");
		nr_ok += !strcmp(s.word, "ok");
		nr_missing += !strcmp(s.word, "no");
	}
	printf("\n%" PRIu64 " ok, %" PRIu64 " no; agent: the agent looks for it when it comes, and says what it does not find\n",
	       nr_ok, nr_missing);
	buf_release(&name);
	buf_release(&value);
}

static void print_facts_rows(const struct facts *f, int format)
{
	static const struct sheet_column columns[] = {
		{ "feature" }, { "kind" }, { "fact" }, { "state" }, { "found" }, { "since" }, { "absent" },
	};
	struct buf name = BUF_INIT, value = BUF_INIT, said = BUF_INIT;
	const struct fact *found;
	struct sheet s;
	size_t i, next;

	sheet_init(&s, format, stdout);
	json_object(&s.json, NULL);
	json_u64_known(&s.json, "jdk", f->jdk, f->jdk);
	json_array(&s.json, "facts");
	sheet_columns(&s, columns, ARRAY_SIZE(columns));
	for (i = 0; i < f->nr_rows; i = next) {
		const struct fact *x = &f->rows[i];

		next = facts_next(f, i, &found);
		put_said(&said, x);
		put_fact_name(&name, found ? found : x);
		if (found)
			put_fact_value(&value, found);
		sheet_row(&s, NULL, (const struct cell[]){
			cell_text(facts_of[x->feature].name),
			cell_text(kinds[x->kind]),
			cell_text(name.data),
			cell_text(fact_state(f, x, found).word),
			cell_text(found ? value.data : NULL),
			facts_of[x->feature].since ? cell_u64(facts_of[x->feature].since) : cell_none,
			cell_text(x->optional ? NULL : said.data),
		});
	}
	json_end(&s.json);
	json_end(&s.json);
	buf_release(&name);
	buf_release(&value);
	buf_release(&said);
}

static int doctor_look_at_jvm(int pid, const char *what, int format, struct err *e)
{
	struct facts f;
	int r = facts_look(&f, pid, e);

	if (!r && format == FORMAT_TEXT)
		print_facts_text(&f, what);
	else if (!r)
		print_facts_rows(&f, format);
	facts_release(&f);
	return r;
}

/* ---- a JVM of our own, which waits before it does anything ---- */

/* Start a JVM. It makes the file when libjvm is loaded, and ends by itself once the file is removed. */
static pid_t doctor_start_java(const char *java, const char *file)
{
	char *option = xasprintf("-XX:PauseAtStartupFile=%s", file);
	pid_t pid = fork();
	int null;

	if (!pid) {
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		unsetenv("JAVA_TOOL_OPTIONS");
		unsetenv("_JAVA_OPTIONS");
		unsetenv("JDK_JAVA_OPTIONS");
		execl(java, java, "-XX:+UnlockDiagnosticVMOptions", "-XX:+PauseAtStartup", option, "-version", NULL);
		_exit(EXIT_CANNOT_RUN);
	}
	free(option);
	return pid;
}

/* Wait until the JVM pauses at its start; return 0 then. */
static int doctor_wait_for_jvm(pid_t pid, const char *file, const char *java, struct err *e)
{
	enum { PATIENCE_MS = 20000, TURN_MS = 10 };
	struct stat st;
	int ms, status;

	for (ms = 0; ms < PATIENCE_MS; ms += TURN_MS) {
		if (!stat(file, &st))
			return 0;
		if (waitpid(pid, &status, WNOHANG) == pid)
			return err_set(e, ENOTSUP, "'%s' %s", java,
				       WIFEXITED(status) && WEXITSTATUS(status) == EXIT_CANNOT_RUN ?
					       "cannot be run" : "does not start a HotSpot JVM");
		clock_sleep_ns(TURN_MS * 1000000);
	}
	return err_set(e, ETIMEDOUT, "'%s' has not started a JVM in %d s", java, PATIENCE_MS / 1000);
}

static int look_at_home(const char *home, int format, struct err *e)
{
	char dir[] = "/tmp/arcprof-jvm-XXXXXX";
	char *java = xasprintf("%s/bin/java", home), *file;
	int r, status;
	pid_t pid;

	if (access(java, X_OK)) {
		r = err_set(e, errno, "'%s' is not a JAVA_HOME: %s: %s", home, java, strerror(errno));
		free(java);
		return r;
	}
	if (!mkdtemp(dir)) {
		r = err_set(e, errno, "%s: %s", dir, strerror(errno));
		free(java);
		return r;
	}
	file = xasprintf("%s/started", dir);
	pid = doctor_start_java(java, file);
	if (pid < 0)
		r = err_set(e, errno, "cannot start '%s': %s", java, strerror(errno));
	else
		r = doctor_wait_for_jvm(pid, file, java, e);
	if (!r)
		r = doctor_look_at_jvm(pid, home, format, e);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	unlink(file);
	rmdir(dir);
	free(file);
	free(java);
	return r;
}

int doctor_jvm(int pid, const char *home, int format)
{
	char *what = xasprintf("process %d", pid);
	struct err e = { 0 };
	int r = pid ? doctor_look_at_jvm(pid, what, format, &e) : look_at_home(home, format, &e);

	free(what);
	return r ? log_err(&e) : 0;
}
