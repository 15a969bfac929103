// SPDX-License-Identifier: GPL-2.0-or-later
/* C++ with templates, inlined and recursive code, a sort, a map, and time in the kernel. */
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace work {

template <typename T> static T mix(T x)
{
	for (int i = 0; i < 50; i++)
		x = x * 6364136223846793005ull + 1442695040888963407ull;
	return x;
}

struct Sorter {
	std::vector<unsigned long> values;

	void fill(int n)
	{
		for (int i = 0; i < n; i++)
			values.push_back(mix<unsigned long>(i));
	}
	void run()
	{
		std::sort(values.begin(), values.end());
	}
};

static unsigned long deep(int n)
{
	return n ? deep(n - 1) + mix<unsigned long>(n) : 0;
}

static size_t count()
{
	std::map<std::string, int> seen;

	for (int i = 0; i < 5000; i++)
		seen[std::to_string(i * 7919 % 5000)]++;
	return seen.size();
}

static size_t read_maps()
{
	FILE *f = fopen("/proc/self/maps", "r");
	char text[4096];
	size_t sum = 0, n;

	while (f && (n = fread(text, 1, sizeof(text), f)))
		sum += n;
	if (f)
		fclose(f);
	return sum;
}

}

int main()
{
	unsigned long sum = 0;

	for (int i = 0; i < 40; i++) {
		work::Sorter sorter;

		sorter.fill(20000);
		sorter.run();
		sum += sorter.values[7] + work::deep(300) + work::count() + work::read_maps();
	}
	return !sum;
}
