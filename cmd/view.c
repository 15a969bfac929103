// SPDX-License-Identifier: GPL-2.0-or-later
/* view.c - arcprof view: the page of a trace, in the user's browser, or its reports in the terminal. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/foreign.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "cmd.h"
#include "reuse.h"
#include "input.h"
#include "report.h"
#include "report/report.h"
#include "view.h"
#include "terminal/browser.h"

struct view_opts {
	const char *input, *import, *output;
	const char *diff;
	bool no_browser, terminal, serve;
	struct opt_list sources;
	uint64_t port;
};

#define O struct view_opts
static const struct opt view_table[] = {
	OPT_STR('i', "input", O, input, "file", "arcprof.data", "read the trace <file>"),
	OPT_IMPORT(O, import),
	OPT_STR('o', "output", O, output, "file", NULL, "write the page to <file> and keep it"),
	OPT_STR(0, "diff", O, diff, "file", NULL, "compare with <file>, both side by side"),
	OPT_FLAG(0, "no-browser", O, no_browser, "only print where the page is"),
	OPT_FLAG(0, "terminal", O, terminal, "show it in this terminal (the default without a display)"),
	OPT_LIST(0, "source", O, sources, "dir", "in the terminal: look for source files in <dir>"),
	OPT_FLAG(0, "serve", O, serve, "serve the page on this machine until ^C, and update it while the trace grows"),
	OPT_COUNT(0, "port", O, port, "port", NULL, "serve on this port of 127.0.0.1 (default: any free port)"),
	OPT_END
};
#undef O

/* Return the page's path in a folder of its own, so that no other user can have put a file there. */
static char *place_of_page(const char *input, struct err *e)
{
	const char *dir = getenv("XDG_RUNTIME_DIR"), *name = strrchr(input, '/');
	char *folder, *path;

	if (!dir || *dir != '/' || access(dir, W_OK))
		dir = getenv("TMPDIR");
	if (!dir || *dir != '/')
		dir = "/tmp";
	folder = xasprintf("%s/arcprof-view-XXXXXX", dir);
	if (!mkdtemp(folder)) {
		err_errno(e, "%s", folder);
		free(folder);
		return NULL;
	}
	path = xasprintf("%s/%s.html", folder, name ? name + 1 : input);
	free(folder);
	return path;
}

/* Return whether there is a browser: root hardly wants one, and without a display there is none. */
static bool has_browser(void)
{
	return geteuid() && (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY"));
}

static bool open_browser(const char *path)
{
	char *argv[] = { "xdg-open", (char *)path, NULL };
	struct spawn s;
	struct err e;
	int status;

	if (spawn_start(&s, argv, &e) || spawn_go(&s, argv[0], &e))
		return false;
	while (waitpid(s.pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/*
 * Pass the folder to the user after the page is complete: no other user could have put a link there before.
 */
static void give_folder(const char *path)
{
	char *folder = xstrdup(path);
	int fd;

	*strrchr(folder, '/') = '\0';
	fd = open(folder, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		foreign_give_to_caller(fd);
		close(fd);
	}
	free(folder);
}

/* Remove the folder, into which nothing was written. */
static void drop_folder(char *path)
{
	*strrchr(path, '/') = '\0';
	rmdir(path);
}

/* Compare as arcprof diff does, with the trace as A. */
static int show_difference(const struct report_request *q, const char *other)
{
	char *a = xstrdup(q->import ? q->import : q->input), *b = xstrdup(other);
	int status = diff_page(a, b, q->output);

	free(a);
	free(b);
	return status;
}

/* Check whether to show the trace in the terminal: there is no display, and no page is asked for. */
static bool suits_terminal(const struct view_opts *o)
{
	struct err e;

	return !o->output && !o->diff && !o->no_browser && !o->serve && !has_browser() &&
	       !browser_possible(&e);
}

/* The page is made of these. */
struct page_of {
	const struct report_request *q;
	const char *diff;
};

static int make_page(void *ctx)
{
	const struct page_of *p = ctx;

	return p->diff ? show_difference(p->q, p->diff) : report_show(p->q, &report_xarc, NULL);
}

/* Serve the page; it is removed with the server. */
static int serve(const struct view_opts *o, struct report_request *q, char *path)
{
	struct page_of of = { q, o->diff };
	const struct serve_opts so = { .trace = q->import ? q->import : q->input, .page = q->output,
				       .port = o->port, .make = make_page, .ctx = &of };
	struct err e;
	int status = 0;

	if (o->port > UINT16_MAX) {
		log_error("--port: %" PRIu64 " is no port", o->port);
		status = EXIT_USAGE;
	} else if (serve_page(&so, &e)) {
		status = log_err(&e);
	}
	if (path) {
		unlink(path);
		drop_folder(path);
	}
	return status;
}

static int view_run(void *opts, int nr_operands, char **operands)
{
	struct view_opts *o = opts;
	struct report_request q = { .show.format = FORMAT_HTML };
	char *path = NULL, *whole;
	struct err e;
	int status = command_input(&o->input, o->import, nr_operands, operands);

	if (status)
		return status;
	if (o->terminal && (o->output || o->diff || o->no_browser || o->serve)) {
		log_error("cannot be combined: --terminal and --%s", o->output ? "output" : o->diff ? "diff" : o->serve ? "serve" : "no-browser");
		return EXIT_USAGE;
	}
	if (o->port && !o->serve) {
		log_error("--port is only valid with --serve");
		return EXIT_USAGE;
	}
	if (o->terminal || suits_terminal(o))
		return view_terminal(o->input, o->import, &o->sources);
	if (o->sources.nr_items) {
		log_error("--source is only valid with --terminal: the page has no source files");
		return EXIT_USAGE;
	}
	if (!o->output && !(path = place_of_page(o->import ? o->import : o->input, &e)))
		return log_err(&e);
	q.input = o->input;
	q.import = o->import;
	q.output = o->output ? o->output : path;
	q.profile.calibrate = true;
	if (o->serve) {
		status = serve(o, &q, path);
		free(path);
		return status;
	}
	status = make_page(&(struct page_of){ &q, o->diff });
	/* the page of a damaged trace is shown, too; the user's own file may be an older page */
	whole = status && o->output ? NULL : realpath(q.output, NULL);
	if (!whole && path)
		drop_folder(path);
	else if (path)
		give_folder(path);
	if (whole && (o->no_browser || !has_browser() || !open_browser(whole)))
		printf("%s\n", whole);
	if (whole && !o->no_browser && !has_browser())
		log_hint("open it in a browser; it needs no network");
	free(whole);
	free(path);
	return status;
}

const struct command cmd_view = {
	.name = "view",
	.summary = "show a trace in the browser or the terminal: graphs, callers and callees, lines",
	.operands = "[<file>]",
	.opts = view_table,
	.opts_size = sizeof(struct view_opts),
	.run = view_run,
};
