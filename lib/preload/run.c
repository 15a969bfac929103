// SPDX-License-Identifier: MIT
/*
 * run.c - programs that are run with an environment that lacks what makes JVMs load the agent get
 * it anyway.
 *
 * Nothing here takes a lock or allocates: these functions are called between fork() and exec, and
 * by a child that shares its parent's memory.
 */
#include <spawn.h>
#include <stddef.h>
#include <unistd.h>

#include "agent/sys.h"
#include "preload/preload.h"

enum { MOST_VARIABLES = 1 << 14 };	/* larger environments are passed on as they are */

__attribute__((weak)) extern char **environ;

/* A variable that programs are to have, and what an environment has of it. */
struct wanted {
	const char *name;	/* with "=" */
	const char *part;	/* behind a colon, if there is another value */
	size_t len;		/* of part */
	bool any;		/* any value will do */
	bool complete;
	const char *old;	/* NULL: not set */
};

struct lack {
	size_t nr;		/* variables in the environment */
	struct wanted wanted[3];
};

static char *no_variables[] = { NULL };

static bool starts_with(const char *s, const char *prefix, size_t len)
{
	size_t i;

	for (i = 0; i < len && s[i] == prefix[i]; i++)
		;
	return i == len;
}

static bool contains(const char *s, const char *part, size_t len)
{
	for (; *s; s++)
		if (starts_with(s, part, len))
			return true;
	return false;
}

static void run_look_at(struct wanted *w, const char *variable)
{
	size_t len = str_len(w->name);

	if (!starts_with(variable, w->name, len))
		return;
	w->old = variable + len;
	w->complete = w->any || contains(w->old, w->part, w->len);
}

/* Return how many bytes extend() takes for what env lacks; 0: nothing, or it cannot be helped. */
static size_t lacks(char *const *env, struct lack *l)
{
	static const char asan[] = "verify_asan_link_order=0";
	const struct preload_variable *v = &preload_variable;
	size_t bytes, i;

	if (!v->option)
		return 0;
	*l = (struct lack){ .wanted = {
		{ "LD_PRELOAD=", v->library, v->library_len },
		{ "ARCPROF_AGENT=", v->library, str_len(v->library), .any = true },
		{ "ASAN_OPTIONS=", asan, sizeof(asan) - 1 },
	} };
	for (; env[l->nr]; l->nr++)
		for (i = 0; i < ARRAY_SIZE(l->wanted); i++)
			run_look_at(&l->wanted[i], env[l->nr]);
	bytes = (l->nr + ARRAY_SIZE(l->wanted) + 1) * sizeof(*env);
	for (i = 0; i < ARRAY_SIZE(l->wanted); i++) {
		const struct wanted *w = &l->wanted[i];

		bytes += str_len(w->name) + (w->old ? str_len(w->old) + 1 : 0) + w->len + 1;
	}
	for (i = 0; i < ARRAY_SIZE(l->wanted) && l->wanted[i].complete; i++)
		;
	return i < ARRAY_SIZE(l->wanted) && l->nr <= MOST_VARIABLES ? bytes : 0;
}

static char *run_put(char *to, const char *s, size_t len)
{
	memcpy(to, s, len);
	return to + len;
}

static bool is_replaced(const struct lack *l, const char *variable)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(l->wanted); i++)
		if (!l->wanted[i].complete && l->wanted[i].old == variable + str_len(l->wanted[i].name))
			return true;
	return false;
}

static char **extend(char *const *env, const struct lack *l, void *room)
{
	char **out = room, *text = (char *)(out + l->nr + ARRAY_SIZE(l->wanted) + 1);
	size_t i, n = 0;

	for (i = 0; i < l->nr; i++)
		if (!is_replaced(l, env[i]))
			out[n++] = env[i];
	for (i = 0; i < ARRAY_SIZE(l->wanted); i++) {
		const struct wanted *w = &l->wanted[i];

		if (w->complete)
			continue;
		out[n++] = text;
		text = run_put(text, w->name, str_len(w->name));
		if (w->old && w->old[0]) {
			bool first = preload_begin_memory && !i;	/* LD_PRELOAD */

			text = run_put(text, first ? w->part : w->old, first ? w->len : str_len(w->old));
			*text++ = ':';
			text = run_put(text, first ? w->old : w->part, first ? str_len(w->old) : w->len);
		} else {
			text = run_put(text, w->part, w->len);
		}
		*text++ = '\0';
	}
	out[n] = NULL;
	return out;
}

/* The environment, or a longer one that lasts as long as the function in which this is. */
#define WITH_AGENT(env)                                                                                   \
	({                                                                                                \
		char *const *env_ = (env) ? (env) : no_variables;                                         \
		struct lack lack_;                                                                        \
		size_t size_ = lacks(env_, &lack_);                                                       \
		size_ ? extend(env_, &lack_, __builtin_alloca(size_)) : (char **)(env);                   \
	})

PRELOAD_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	int (*f)(const char *, char *const *, char *const *) = preload_real(REAL_EXECVE);
	char **env = WITH_AGENT(envp);

	return f(path, argv, env);
}

PRELOAD_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	int (*f)(const char *, char *const *, char *const *) = preload_real(REAL_EXECVPE);
	char **env = WITH_AGENT(envp);

	return f(file, argv, env);
}

PRELOAD_EXPORT int execv(const char *path, char *const argv[])
{
	int (*plain)(const char *, char *const *) = preload_real(REAL_EXECV);
	int (*f)(const char *, char *const *, char *const *) = preload_real(REAL_EXECVE);
	char **ours = &environ ? environ : NULL, **env = WITH_AGENT(ours);

	return env == ours || !f ? plain(path, argv) : f(path, argv, env);
}

PRELOAD_EXPORT int execvp(const char *file, char *const argv[])
{
	int (*plain)(const char *, char *const *) = preload_real(REAL_EXECVP);
	int (*f)(const char *, char *const *, char *const *) = preload_real(REAL_EXECVPE);
	char **ours = &environ ? environ : NULL, **env = WITH_AGENT(ours);

	return env == ours || !f ? plain(file, argv) : f(file, argv, env);
}

typedef int spawn_fn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		     const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);

PRELOAD_EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			       const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	spawn_fn *f = preload_real(REAL_SPAWN);
	char **env = WITH_AGENT(envp);

	return f(pid, path, actions, attr, argv, env);
}

PRELOAD_EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
				const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	spawn_fn *f = preload_real(REAL_SPAWNP);
	char **env = WITH_AGENT(envp);

	return f(pid, file, actions, attr, argv, env);
}
