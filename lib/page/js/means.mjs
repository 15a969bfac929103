// SPDX-License-Identifier: GPL-2.0-or-later
// means.mjs - of functions that were called while a label said a size, their mean at each; report/means.c has the same.

const MOST_SIZE = 1e15;		// what is more is no size, but an id

/* The number that a label of the key says, or null. */
function sizeOf(consumers, c, key) {
	const at = consumers.kind[c] === 'label' ? consumers.name[c].indexOf('=') : -1, text = consumers.name[c].slice(at + 1);

	return at > 0 && consumers.name[c].slice(0, at) === key && /^\d+(\.\d+)?$/.test(text) && Number(text) <= MOST_SIZE ? Number(text) : null;
}

/* The key of which labels have two sizes or more; '': there is none. */
export function sizeKeyOf(consumers) {
	const keys = new Map();

	for (let c = 1; c < consumers.nr; c++) {
		const key = consumers.kind[c] === 'label' ? consumers.name[c].split('=')[0] : '';
		if (key && sizeOf(consumers, c, key) !== null)
			keys.set(key, (keys.get(key) || 0) + 1);
	}
	return [...keys.keys()].find(key => keys.get(key) > 1) || '';
}

/* Of functions that were called at some size: a Map of consumers to [{size, n, cum}], the outermost calls, by size. */
export function meansOf({ tree, sums, metric, consumers }, key) {
	const found = new Map(), cum = sums.cum[metric];

	for (let i = 1; i < tree.nr; i++) {
		const size = sizeOf(consumers, tree.consumer[i], key);
		for (let k = i + 1; size !== null && k < tree.end[i]; k++) {
			const c = tree.consumer[k], of = found.get(c) || new Map(), point = of.get(size) || { size, n: 0, cum: 0 };
			if (tree.rl[k] !== 1)
				continue;
			point.n += sums.n[k];
			point.cum += cum[k];
			found.set(c, of.set(size, point));
		}
	}
	return new Map([...found].map(([c, of]) => [c, [...of.values()].filter(p => p.n).sort((a, b) => a.size - b.size)])
		.filter(([, points]) => points.length));
}

/* The straight line through means, each of as much weight as it has calls: {base, slope}; null: there is none. */
export function fitOf(points) {
	const sum = of => points.reduce((x, p) => x + of(p), 0), n = sum(p => p.n), x = sum(p => p.n * p.size) / n, y = sum(p => p.cum) / n;
	const spread = sum(p => p.n * (p.size - x) ** 2), slope = sum(p => (p.size - x) * (p.cum - p.n * y)) / spread;

	return points.length > 1 && spread ? { base: y - slope * x, slope } : null;
}
