// throws.cc - an exception through two functions; caught where it was asked for, twice.
static volatile int sink;
__attribute__((noinline)) static void thrower() { sink++; throw 1; }
__attribute__((noinline)) static void middle() { thrower(); sink++; }
__attribute__((noinline)) static void after() { sink++; }
__attribute__((noinline)) static void catches()
{
	try {
		middle();
	} catch (int) {
	}
	after();
}
int main()
{
	catches();
	catches();
	return 0;
}
