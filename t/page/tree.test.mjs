// SPDX-License-Identifier: GPL-2.0-or-later
// Trees, sums and stanzas of the page against what they are by definition, over random trees.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Samples } from '../../lib/page/js/data.mjs';
import { children, makeTree, mapTree, numbersBelow, pathTo } from '../../lib/page/js/tree.mjs';
import { brokenLaws, brokenTree, cumulate, profile, stanza, sumUp } from '../../lib/page/js/sums.mjs';
import { heatCells, laneCells, layOut } from '../../lib/page/js/layout.mjs';
import { fitOf, meansOf, sizeKeyOf } from '../../lib/page/js/means.mjs';
import { layOutTimes, ThreadTimes } from '../../lib/page/js/order.mjs';
import { hottest, idleApart, IS_MINE, rolesOf, waits } from '../../lib/page/js/roles.mjs';
import { TreeRows } from '../../lib/page/js/treeview.mjs';

let seed = 1;

function random(below) {
	seed = Math.imul(seed, 1103515245) + 12345 >>> 0;
	return (seed >>> 8) % below;
}

/* Distinct consumers among siblings, as every tree has them; preorder. */
function randomData(nr, nrConsumers) {
	const parent = [0], consumer = [0], level = [0], path = [0], used = [new Set()];

	while (parent.length < nr) {
		const up = random(path.length), above = path[up];
		const c = 1 + random(nrConsumers - 1);
		if (used[above].has(c))
			continue;
		path.length = up + 1;
		used[above].add(c);
		path.push(parent.length);
		used.push(new Set());
		level.push(up + 1);
		parent.push(above);
		consumer.push(c);
	}
	const samples = Float64Array.from(parent, (_, i) => (i ? random(5) : 0));
	return {
		parent: Int32Array.from(parent), consumer: Uint32Array.from(consumer), n: samples,
		base: [samples.map(x => x * 1000)], consumers: { nr: nrConsumers },
		meta: { metrics: [{ scale: 1000 }], sources: [{ metric: 0, counts_in_n: true, count_metric: null }] },
		samples: [timesOf(samples)],
	};
}

function timesOf(samples) {
	const ticks = Uint16Array.from({ length: samples.reduce((a, b) => a + b, 0) }, () => random(100));

	return new Samples(samples, ticks, null, 100);
}

const WHOLE = { from: null, to: null, ranges: null };

test('subtrees, children and recursion levels are those of the paths', () => {
	for (let round = 0; round < 50; round++) {
		const d = randomData(2 + random(200), 2 + random(8)), t = makeTree(d.parent, d.consumer, d.consumers.nr);
		for (let i = 1; i < t.nr; i++) {
			const path = pathTo(t, i);
			assert.equal(t.rl[i], path.filter(x => t.consumer[x] === t.consumer[i]).length);
			for (let k = 1; k < t.nr; k++)
				assert.equal(k >= i && k < t.end[i], pathTo(t, k).includes(i));
			assert.deepEqual([...children(t, i)], [...d.parent.keys()].filter(k => k && d.parent[k] === i));
		}
	}
});

test('small numbers are in small arrays, and those that do not fit are not', () => {
	const deep = 70000, chain = Int32Array.from({ length: deep }, (_, i) => Math.max(i - 1, 0)), ones = new Uint8Array(deep).fill(1);
	const t = makeTree(chain, ones, 2), few = mapTree(makeTree(Int32Array.of(0, 0, 1), Uint32Array.of(0, 1, 2), 3), Uint32Array.of(0, 1, 2), 3, false).tree;

	assert.equal(t.rl[deep - 1], deep - 1);
	assert.ok(few.consumer instanceof Uint16Array && few.rl instanceof Uint16Array);
	assert.ok(numbersBelow(65536, 1) instanceof Uint16Array && numbersBelow(65537, 1) instanceof Uint32Array);
});

test('every law holds in random trees, and a wrong sum or level is seen', () => {
	for (let round = 0; round < 50; round++) {
		const d = randomData(20 + random(300), 3 + random(6)), t = makeTree(d.parent, d.consumer, d.consumers.nr);
		const sums = sumUp(d, t, null, WHOLE), p = profile(t, sums);
		assert.deepEqual(brokenTree(t, sums, 0), []);
		for (let c = 1; c < d.consumers.nr; c++) {
			const s = stanza(t, sums, c);
			assert.deepEqual(brokenLaws(s, 0), []);
			assert.equal(s.self.cum[0], p.cum[0][c]);
			assert.equal(s.rself.cum[0], p.cum2[0][c]);
			assert.equal(s.self.base[0] + s.rself.base[0], p.base[0][c]);
		}
		sums.cum[0][1 + random(t.nr - 1)] += 1;
		assert.notDeepEqual(brokenTree(t, sums, 0), []);
		sums.cum[0] = cumulate(t, sums.base[0]);
		t.rl[1 + random(t.nr - 1)] += 1;
		assert.notDeepEqual(brokenTree(t, sums, 0), []);
	}
});

test('the parts of the time add up to the whole, in every thread', () => {
	for (let round = 0; round < 30; round++) {
		const d = randomData(20 + random(300), 9), t = makeTree(d.parent, d.consumer, d.consumers.nr), cut = random(100);
		const ranges = round % 2 ? [[1, t.end[1]]] : null;
		const whole = sumUp(d, t, null, { ...WHOLE, ranges });
		const early = sumUp(d, t, null, { from: 0, to: cut, ranges }), late = sumUp(d, t, null, { from: cut, to: 100, ranges });
		for (let i = 1; i < t.nr; i++) {
			assert.equal(early.n[i] + late.n[i], whole.n[i]);
			assert.equal(early.cum[0][i] + late.cum[0][i], whole.cum[0][i]);
		}
	}
});

/* Samples that last: {data, list: [{node, begin, end}]}, in ns; ticks are of 1000. */
function lastingData(nr) {
	const d = randomData(nr, 9), ticks = [], rests = [], weights = [], list = [];

	d.n.forEach((count, node) => {
		const ends = Array.from({ length: count }, () => random(100000)).sort((a, b) => a - b);
		for (const end of ends) {
			const weight = random(5) ? random(3000) : random(end + 2000);
			ticks.push(Math.floor(end / 1000));
			rests.push(end % 1000);
			weights.push(weight);
			list.push({ node, begin: end - 2 * weight, end });
		}
	});
	d.meta = { metrics: [{ scale: 2 }], sources: [{ metric: 0, counts_in_n: true, count_metric: null, lasts: true }] };
	d.base = [new Float64Array(d.n.length)];
	list.forEach(x => d.base[0][x.node] += x.end - x.begin);
	d.samples = [new Samples(d.n.slice(), Uint32Array.from(ticks), Float64Array.from(weights), 100,
		{ tickNs: 1000, scale: 2, rests: Float64Array.from(rests) })];
	return { d, list };
}

test('of what lasts, a part of the time has the part that is in it, and parts add up', () => {
	for (let round = 0; round < 30; round++) {
		const { d, list } = lastingData(20 + random(100)), t = makeTree(d.parent, d.consumer, d.consumers.nr);
		const cuts = [0, random(100), random(100), 100].sort((a, b) => a - b);
		const sum = new Float64Array(t.nr);
		for (let k = 0; k < 3; k++) {
			const from = cuts[k], to = cuts[k + 1], { n, base: [base] } = sumUp(d, t, null, { from, to, ranges: null });
			const wantN = new Float64Array(t.nr), want = new Float64Array(t.nr);
			for (const { node, begin, end } of list) {
				const a = Math.max(begin, from ? from * 1000 : -Infinity), z = Math.min(end, to < 100 ? to * 1000 : Infinity);
				wantN[node] += a < z || (begin === end && end >= from * 1000 && end < to * 1000);
				want[node] += Math.max(z - a, 0);
			}
			assert.deepEqual([...n], [...wantN]);
			assert.deepEqual([...base], [...want]);
			base.forEach((x, i) => sum[i] += x);
		}
		assert.deepEqual([...sum], [...d.base[0]]);
	}
});

test('heat map and lanes have what lasts in each cell that it was in', () => {
	for (let round = 0; round < 30; round++) {
		const { d, list } = lastingData(20 + random(100)), middle = 1 + random(d.n.length - 1), columns = 7 + random(50);
		const ranges = [[1, middle], [middle, d.n.length]], width = 100000 / columns;
		const want = ranges.map(([from, to]) => Array.from({ length: columns }, (_, c) => list.reduce((sum, x) => {
			const a = Math.max(x.begin, c ? c * width : -Infinity), z = Math.min(x.end, (c + 1) * width);
			return sum + (x.node >= from && x.node < to ? Math.max(z - a, 0) : 0);
		}, 0)));
		const close = (a, b) => a.forEach((x, i) => assert.ok(Math.abs(x - b[i]) < 1e-3, `${i}: ${x}, ${b[i]}`));
		laneCells(d.samples[0], ranges, columns).forEach((cells, k) => close(cells, want[k]));
		close(heatCells(d.samples[0], null, columns, 1), want[0].map((x, c) => x + want[1][c]));
		close(heatCells(d.samples[0], [ranges[1]], 1, columns), want[1]);
	}
});

/* A thread's stacks one after the other, some with a gap before them; kind: how the data have them. */
function stacksInOrder(kind) {
	const d = randomData(30, 9), t = makeTree(d.parent, d.consumer, 9), count = new Uint32Array(30), list = [];

	for (let end = 0; list.length < 40;) {
		const begin = end + (random(3) ? 0 : 1 + random(9)) * 1000, node = 1 + random(29);
		end = begin + (1 + random(9)) * 1000;
		list.push({ node, begin: kind === 'moments' ? end : begin, end });
		count[node]++;
	}
	const sorted = [...list].sort((a, b) => a.node - b.node || a.end - b.end), ticks = Uint16Array.from(sorted, s => s.end / 1000);
	const weights = Float64Array.from(sorted, s => (kind === 'moments' ? 1 : (s.end - s.begin) / 500));
	return { t, list, samples: new Samples(count, ticks, weights, ticks.reduce((a, b) => Math.max(a, b)) + 1,
		kind === 'lasting' ? { tickNs: 1000, scale: 500, rests: new Float64Array(sorted.length) } : null) };
}

test('stacks in order of time are where their samples are, pixel by pixel', () => {
	for (const kind of ['lasting', 'weighted', 'moments'])
		for (let round = 0; round < 20; round++) {
			const { t, list, samples } = stacksInOrder(kind), from = random(20000), to = from + 50000, width = 200;
			const times = new ThreadTimes(samples, [[1, t.nr]], 1000, kind === 'weighted' ? 500 : 0);
			const { boxes, rows } = layOutTimes(times, times.of[0], { from, to, width, row: 1, mostDeep: 99, look: { tree: t, nodeOf: null },
				isTop: new Uint8Array(9) });
			for (let x = 0; x < width; x++) {
				const a = from + x * 250, z = a + 250;
				const in_ = list.filter(s => (kind === 'moments' ? s.end >= a && s.end < z : s.end > a && s.begin < z));
				const got = boxes.filter(b => b.x <= x && x < b.x + b.width).sort((p, q) => p.row - q.row);
				const paths = in_.map(s => pathTo(t, s.node));
				if (in_.length < 2)
					assert.deepEqual(got.map(b => b.last), paths[0] || []);
				else
					assert.ok(paths.some(path => path.join() === got.map(b => b.last).join()));
				got.forEach((b, level) => assert.equal(b.row, 1 + level));
			}
			assert.equal(rows, boxes.reduce((most, b) => Math.max(most, b.row), 0));
		}
});

test('of a pixel with many samples the stack is shown that most of them have', () => {
	const tree = makeTree(Uint32Array.of(0, 0, 1, 1, 3), Uint32Array.of(0, 1, 2, 3, 4), 5), nr = 100000;
	const samples = new Samples(Uint32Array.of(0, 0, nr, nr, nr), new Uint16Array(3 * nr), null, 1);
	const times = new ThreadTimes(samples, [[1, 5]], 1000, 0);
	const { boxes, rows } = layOutTimes(times, times.of[0], { from: 0, to: 1000, width: 1, row: 0, mostDeep: 99, look: { tree, nodeOf: null },
		isTop: new Uint8Array(5) });
	let asked = 0;

	/* two thirds are in 3 or below it */
	assert.deepEqual(boxes.slice(0, 2).map(b => b.last), [1, 3]);
	assert.ok(rows <= 3);
	times.each(times.of[0], 0, 1000, () => asked++);
	assert.equal(asked, 16);
});

test('means against a label are of outermost calls that began there, and a straight line goes through them', () => {
	const name = ['', 'size=10', 'size=20', 'size=9999999999999999', 'id=7', 'f', 'main'], kind = ['', 'label', 'label', 'label', 'label', 'native', 'native'];
	/* size=10 has f below f, size=20 main, which was called before, with f below it */
	const tree = makeTree(Uint32Array.of(0, 0, 1, 2, 0, 4, 5, 0, 7), Uint32Array.of(0, 1, 5, 5, 2, 6, 5, 3, 5), 7);
	const n = Float64Array.of(0, 0, 2, 9, 0, 0, 1, 0, 1), base = Float64Array.of(0, 0, 15, 5, 0, 3, 20, 0, 50);
	const consumers = { nr: 7, name, kind }, look = { tree, consumers, metric: 0, sums: { n, cum: [cumulate(tree, base)] } };
	const means = meansOf(look, 'size');

	assert.equal(sizeKeyOf(consumers), 'size');
	assert.equal(sizeKeyOf({ ...consumers, nr: 2 }), '');
	assert.deepEqual([...means], [[5, [{ size: 10, n: 2, cum: 20 }, { size: 20, n: 1, cum: 20 }]]]);
	assert.deepEqual(fitOf(means.get(5)), { base: 0, slope: 1 });
	assert.equal(fitOf(means.get(5).slice(1)), null);
});

test('a mapped tree keeps the sums, and its siblings are distinct', () => {
	for (let round = 0; round < 50; round++) {
		const d = randomData(20 + random(300), 9), t = makeTree(d.parent, d.consumer, d.consumers.nr);
		const to = Uint32Array.from({ length: 9 }, (_, c) => (c ? random(5) : 0)), merge = round % 2 === 1;
		const { tree, nodeOf } = mapTree(t, to, 5, merge), sums = sumUp(d, tree, nodeOf, WHOLE);
		assert.deepEqual(brokenTree(tree, sums, 0), []);
		assert.equal(sums.cum[0][0], d.base[0].reduce((a, b) => a + b, 0));
		const part = { from: 20, to: 70, ranges: null }, here = sumUp(d, tree, nodeOf, part), there = sumUp(d, t, null, part);
		/* also in arrays of sums that are of no more use */
		const other = sumUp(d, tree, nodeOf, { from: 0, to: 50, ranges: null });
		assert.deepEqual(sumUp(d, tree, nodeOf, part, other), here);
		assert.ok(here.isOwn && !sums.isOwn && other.cum[0].length === tree.nr);
		const want = new Float64Array(tree.nr);
		there.base[0].forEach((x, i) => want[nodeOf[i]] += x);
		assert.deepEqual(here.base[0], want);
		for (let i = 0; i < tree.nr; i++) {
			const kids = [...children(tree, i)].map(c => tree.consumer[c]);
			assert.equal(new Set(kids).size, kids.length);
			if (merge && i)
				assert.ok(!kids.includes(tree.consumer[i]));
		}
		for (let i = 1; i < t.nr; i++) {
			const want = pathTo(t, i).map(x => to[t.consumer[x]]).filter((c, k, all) => c && !(merge && c === lastBefore(all, k)));
			assert.deepEqual(pathTo(tree, nodeOf[i]).map(x => tree.consumer[x]), want);
		}
	}
});

function lastBefore(list, k) {
	for (let i = k - 1; i >= 0; i--)
		if (list[i])
			return list[i];
	return 0;
}

test('boxes of a row do not overlap and are as wide as their contexts', () => {
	for (let round = 0; round < 30; round++) {
		const d = randomData(20 + random(300), 9), t = makeTree(d.parent, d.consumer, d.consumers.nr);
		const cum = sumUp(d, t, null, WHOLE).cum[0], zoom = round % 3 ? 0 : 1, { boxes, rows } = layOut(t, cum, zoom, 1000);
		for (let row = 0; row < rows; row++) {
			const here = boxes.filter(b => b.row === row).sort((a, b) => a.x - b.x);
			here.forEach((b, k) => assert.ok(!k || b.x >= here[k - 1].x + here[k - 1].width - 1e-6));
		}
		for (const b of boxes)
			assert.ok(Math.abs(b.width - cum[b.first] / cum[zoom] * 1000) < 1e-9 && b.x > -1e-6 && b.x + b.width < 1000 + 1e-6);
		const inBoxes = boxes.reduce((x, b) => x + b.nr, 0);
		assert.equal(inBoxes, [...cum.keys()].filter(i => i && cum[i] > 0 && (!zoom || (i >= zoom && i < t.end[zoom]))).length);
	}
});

test('the tree of a difference has contexts that only one side has', () => {
	const tree = makeTree(Uint32Array.of(0, 0, 1, 1), Uint32Array.of(0, 1, 2, 3), 4);
	const sides = { cum: [Float64Array.of(5, 5, 5, 0), Float64Array.of(9, 9, 0, 9)] };
	const look = { key: '', metric: 0, tree, sides, sums: { cum: [Float64Array.of(5, 5, 5, 0)] } };

	assert.deepEqual(new TreeRows().rows(look, 0).map(r => r.node), [1, 3, 2]);
	assert.deepEqual(new TreeRows().rows({ ...look, sides: null }, 0).map(r => r.node), [1, 2]);
});

const WAITS = 4, IS_CODE = 8;

/* With roles: of the consumers the first are the program's own, the last are waits; contexts below some are idle. */
function dataWithRoles() {
	const d = randomData(20 + random(200), 12), idle = new Uint8Array(d.parent.length);

	Object.assign(d.consumers, { role: Array.from({ length: 12 }, (_, c) => (!c ? 0 : c < 4 ? IS_MINE | IS_CODE : c < 9 ? IS_CODE : WAITS)),
		kind: new Array(12).fill('native'), spent: Array.from({ length: 12 }, (_, c) => (c < 9 ? '' : 'lock')) });
	for (let i = 1; i < idle.length; i++)
		idle[i] = idle[d.parent[i]] || (d.consumer[i] >= 9 && !random(2) ? 1 : 0);
	return { d, idle: { of: idle, consumer: 12 } };
}

test('idle waits apart: all sums stay, and what is idle is below one root', () => {
	for (let round = 0; round < 40; round++) {
		const { d, idle } = dataWithRoles(), apart = idleApart({ nr: d.parent.length, parent: d.parent, consumer: d.consumer }, idle);
		const t = makeTree(apart.parent, apart.consumer, 13), sums = sumUp(d, t, apart.nodeOf, WHOLE), whole = makeTree(d.parent, d.consumer, 12);
		assert.deepEqual(brokenTree(t, sums, 0), []);
		assert.equal(sums.cum[0][0], d.base[0].reduce((a, b) => a + b, 0));
		for (let i = 1; i < whole.nr; i++) {
			const path = pathTo(whole, i).map(x => d.consumer[x]);
			assert.deepEqual(pathTo(t, apart.nodeOf[i]).map(x => t.consumer[x]), idle.of[i] ? [12, ...path] : path);
		}
	}
});

test('functions of the program have what they call of libraries, waits are of who waits, and all adds up', () => {
	for (let round = 0; round < 40; round++) {
		const { d, idle } = dataWithRoles(), t = makeTree(d.parent, d.consumer, 12), to = Uint32Array.from({ length: 12 }, (_, c) => c);
		const roles = rolesOf(t, d.consumers, idle, ['', 'lock', 'idle']), base = d.base[0], sum = rows => rows.reduce((x, r) => x + r, 0);
		const busy = base.filter((_, i) => i && !idle.of[i]), { mine, all } = hottest(roles, t, to, base, 1e-9, 99);
		const own = base.filter((_, i) => i && !idle.of[i] && pathTo(t, i).some(x => d.consumer[x] < 4));
		assert.equal(sum(all.map(r => r.self)), sum(busy));
		assert.equal(sum(mine.map(r => r.mine)), sum(own));
		const w = waits(roles, t, to, base, 99), waited = base.filter((_, i) => i && pathTo(t, i).some(x => d.consumer[x] >= 9));
		assert.equal(w.whole + w.idle, sum(waited));
		assert.ok(sum(w.rows.map(r => r.self)) <= w.whole && w.rows.every(r => r.self >= w.whole / 100));
	}
});
