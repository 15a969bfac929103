/* family.c - threads, a child, and what the child becomes. */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long sums[3];

__attribute__((noinline)) static void *in_thread(void *arg)
{
	long i, *sum = arg;

	for (i = 0; i < 50; i++)
		*sum += i;
	return NULL;
}

__attribute__((noinline)) static void in_child(char *self)
{
	execl(self, self, "image", (char *)NULL);
}

__attribute__((noinline)) static int in_image(void)
{
	return 5;
}

int main(int argc, char **argv)
{
	pthread_t t[3];
	int status, i;

	if (argc > 1)
		_exit(in_image());
	for (i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, in_thread, (void *)&sums[i]);
	for (i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	if (!fork()) {
		in_child(argv[0]);
		_exit(1);
	}
	wait(&status);
	printf("%ld %d\n", sums[0] + sums[1] + sums[2], WEXITSTATUS(status));
	return 3;
}
