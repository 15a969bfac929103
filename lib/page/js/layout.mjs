// SPDX-License-Identifier: GPL-2.0-or-later
// layout.mjs - where the boxes of a flame graph stand; no drawing.
const FLOWS_ON = 0.985;		// a child with that share of its caller is in one row with it
const MIN_WIDTH = 0.2;		// of a pixel: what is below a narrower one is not looked at
const CRUMB = 0.5;		// of a pixel: narrow neighbours are one box up to there

/*
 * Boxes {x, width, row, first, last, nr} of node (0: everything) and what is below it, in pixels of width: nr contexts
 * from first to last, each almost all of the one above, are one box. value[node]: as wide as that. beside: the values of
 * the other side, which must not part within a box either, so that both sides have the same boxes; null: there is none.
 */
export function layOut(tree, value, node, width, beside = null) {
	const scale = value[node] > 0 ? width / value[node] : 0;
	const picture = { tree, value, scale, boxes: [], todo: [], beside };
	let rows = 0;

	if (scale && node)
		placeNode(picture, node, 0, 0, null);
	else if (scale)
		placeChildren(picture, 0, 0, 0, 0);
	leftFirst(picture.todo, 0);
	while (picture.todo.length) {
		const box = picture.todo.pop(), begin = picture.todo.length;
		let heir = 0, at = box.x;
		while ((heir = heirOf(picture, box.last))) {
			at = placeChildren(picture, box.last, at, box.row + 1, heir);
			box.last = heir;
			box.nr++;
		}
		placeChildren(picture, box.last, at, box.row + 1, 0);
		leftFirst(picture.todo, begin);
	}
	for (const box of picture.boxes)
		rows = Math.max(rows, box.row + 1);
	return { boxes: picture.boxes, rows };
}

/* What was put on the stack last is taken left to right then: boxes of a row come almost in order, which sorts fast. */
function leftFirst(todo, begin) {
	for (let a = begin, b = todo.length - 1; a < b; a++, b--)
		[todo[a], todo[b]] = [todo[b], todo[a]];
}

function heirOf({ tree: { end }, value, beside }, node) {
	const least = value[node] * FLOWS_ON;
	let left = value[node];

	for (let child = node + 1; child < end[node] && left >= least; child = end[child]) {
		if (value[child] > 0 && value[child] >= least)
			return beside && beside[child] < beside[node] * FLOWS_ON ? 0 : child;
		left -= value[child];
	}
	return 0;
}

/* Boxes for the children that have a value, from x on, but for the heir; gives where that begins. */
function placeChildren(picture, node, x, row, heir) {
	const { tree: { end }, value, scale } = picture;
	let crumb = null, at = x;

	for (let child = node + 1; child < end[node]; child = end[child]) {
		if (!(value[child] > 0))
			continue;
		if (child === heir) {
			at = x;
			crumb = null;
		} else {
			crumb = placeNode(picture, child, x, row, crumb);
		}
		x += value[child] * scale;
	}
	return at;
}

/* What is too narrow goes into the crumb beside it; gives the one that the next may go into. */
function placeNode({ value, scale, boxes, todo }, node, x, row, crumb) {
	const width = value[node] * scale;

	if (width < MIN_WIDTH && crumb && x + width - crumb.x < CRUMB) {
		crumb.width = x + width - crumb.x;
		return crumb;
	}
	const box = { x, width, row, first: node, last: node, nr: 1 };
	boxes.push(box);
	if (width < MIN_WIDTH)
		return box;
	todo.push(box);
	return null;
}

/*
 * The same upwards or downwards for merged contexts: groups of nodes that are one box. step(group) gives the groups of
 * the next row.
 */
export function layOutGroups(roots, step, width, total, maxRows) {
	const boxes = [], scale = width / total;
	let rows = 0, row = placeGroups(roots, 0, 0, scale, []);

	for (; row.length && rows < maxRows; rows++) {
		const next = [];
		for (const box of row) {
			if (box.width >= MIN_WIDTH)
				placeGroups(step(box.group), box.x, rows + 1, scale, next);
			/* what it was made of is large, and of no more use */
			box.group = { consumer: box.group.consumer, sum: box.group.sum };
			boxes.push(box);
		}
		row = next;
	}
	return { boxes, rows };
}

function placeGroups(groups, x, row, scale, out) {
	let crumb = null;

	for (const group of groups) {
		const width = group.sum * scale;
		if (width < MIN_WIDTH && crumb && x + width - crumb.x < CRUMB) {
			crumb.width = x + width - crumb.x;
		} else {
			const box = { x, width, row, group };
			out.push(box);
			crumb = width < MIN_WIDTH ? box : null;
		}
		x += width;
	}
	return out;
}

/*
 * Groups {consumer, sum, nodes, weights, begin, end} of the nodes by consumer, the heaviest first: theirs are
 * nodes[begin .. end).
 */
function gather(tree, nodes, weights, nr) {
	const { consumer } = tree, count = scratch(tree), found = [], groups = [];

	for (let k = 0; k < nr; k++)
		if (!count[consumer[nodes[k]]]++)
			found.push(consumer[nodes[k]]);
	const sorted = new Uint32Array(nr), sortedWeights = new Float64Array(nr);
	let begin = 0;
	for (const c of found) {
		groups.push({ consumer: c, sum: 0, nodes: sorted, weights: sortedWeights, begin, end: begin + count[c] });
		count[c] = begin;
		begin = groups[groups.length - 1].end;
	}
	for (let k = 0; k < nr; k++) {
		const at = count[consumer[nodes[k]]]++;
		sorted[at] = nodes[k];
		sortedWeights[at] = weights[k];
	}
	for (const group of groups) {
		count[group.consumer] = 0;
		for (let k = group.begin; k < group.end; k++)
			group.sum += sortedWeights[k];
	}
	return groups.sort((a, b) => b.sum - a.sum || a.consumer - b.consumer);
}

/* By consumer of the tree, all 0; whoever uses it leaves it so. */
function scratch(tree) {
	if (!tree.scratch)
		tree.scratch = new Uint32Array(tree.nrConsumers);
	return tree.scratch;
}

/* Whatever consumes itself, in one group a consumer: the first row of the inverted graph. */
export function leafGroups(tree, base) {
	let nr = 0;

	for (let i = 1; i < tree.nr; i++)
		nr += Number(base[i] > 0);
	const nodes = new Uint32Array(nr), weights = new Float64Array(nr);
	for (let i = tree.nr - 1, k = nr; k; i--)
		if (base[i] > 0) {
			weights[--k] = base[i];
			nodes[k] = i;
		}
	return gather(tree, nodes, weights, nr);
}

/* Outermost contexts of one consumer, with what is below them. */
export function functionGroup(tree, cum, consumer) {
	const nodes = tree.byConsumer.subarray(tree.firstOf[consumer], tree.firstOf[consumer + 1])
		.filter(i => tree.rl[i] === 1 && cum[i] > 0);

	return gather(tree, nodes, Float64Array.from(nodes, i => cum[i]), nodes.length);
}

/* Groups of the callers; a root has none. */
export function callers(tree) {
	return ({ nodes, weights, begin, end }) => {
		const above = new Uint32Array(end - begin), of = new Float64Array(end - begin);
		let nr = 0;
		for (let k = begin; k < end; k++) {
			const p = tree.parent[nodes[k]];
			if (!p)
				continue;
			of[nr] = weights[k];
			above[nr++] = p;
		}
		return gather(tree, above, of, nr);
	};
}

export function callees(tree, cum) {
	return ({ nodes, begin, end }) => {
		const below = [];
		for (let k = begin; k < end; k++)
			for (let i = nodes[k] + 1; i < tree.end[nodes[k]]; i = tree.end[i])
				if (cum[i] > 0)
					below.push(i);
		return gather(tree, below, below.map(i => cum[i]), below.length);
	};
}

/* How much of each cell of a heat map there is: columns of steps cells, over all ticks; ranges of nodes, null: all. */
export function heatCells(samples, ranges, columns, steps) {
	if (samples.lasting)
		return lastingCells(samples, ranges || [[0, Infinity]], columns * steps, false)[0];
	const { first } = samples, ticks = first.length - 1, nr = columns * steps, cells = new Float64Array(nr);
	const simple = !ranges && !samples.isWeighted, { node, weights } = simple ? {} : samples.byTime();
	const isIn = ranges && (i => ranges.some(([begin, end]) => i >= begin && i < end));

	for (let t = 0; t < ticks; t++) {
		const cell = Math.floor(t * nr / ticks);
		if (simple)
			cells[cell] += first[t + 1] - first[t];
		else
			for (let k = first[t]; k < first[t + 1]; k++)
				if (!isIn || isIn(node[k]))
					cells[cell] += weights ? weights[k] : 1;
	}
	return cells;
}

/* The same of several ranges of nodes that follow one another, each with cells of its own. */
export function laneCells(samples, ranges, columns) {
	if (samples.lasting)
		return lastingCells(samples, ranges, columns, true);
	const { first } = samples, { node, weights } = samples.byTime(), ticks = first.length - 1;
	const lanes = ranges.map(() => new Float64Array(columns));
	let at = 0;

	for (let t = 0; t < ticks; t++)
		for (let k = first[t]; k < first[t + 1]; k++) {
			at = rangeOf(ranges, node[k], at);
			if (at >= 0)
				lanes[at][Math.floor(t * columns / ticks)] += weights ? weights[k] : 1;
		}
	return lanes;
}

/*
 * Of samples that last, what each of some ranges of nodes had of each kind of time: [range][kind] of cells, in ns. kinds: how
 * many there are; kindOf[node]: which one a node is of.
 */
export function spentLanes(samples, ranges, kindOf, kinds, nr) {
	const { first, lasting } = samples, { node, begins, ends } = samples.byTime(), width = (first.length - 1) * lasting.tickNs / nr;
	const lanes = ranges.map(() => new Array(kinds).fill(null));
	let at = 0;

	for (let k = 0; k < node.length; k++) {
		at = rangeOf(ranges, node[k], at);
		if (at >= 0)
			(lanes[at][kindOf[node[k]]] ??= new Spread(nr, width)).add(begins[k], ends[k]);
	}
	return lanes.map(lane => lane.map(spread => (spread ? spread.finish() : null)));
}

/* The same of samples that last, each spread over the cells that it was in; apart: each range has cells of its own. */
function lastingCells(samples, ranges, nr, apart) {
	const { first, lasting } = samples, { node, begins, ends } = samples.byTime();
	const spreads = (apart ? ranges : [0]).map(() => new Spread(nr, (first.length - 1) * lasting.tickNs / nr));
	let at = 0;

	if (!apart)
		ranges = [...ranges].sort((a, b) => a[0] - b[0]);
	for (let k = 0; k < node.length; k++) {
		at = rangeOf(ranges, node[k], at);
		if (at >= 0)
			spreads[apart ? at : 0].add(begins[k], ends[k]);
	}
	return spreads.map(s => s.finish());
}

/* Cells that are so wide; what covers many takes no longer than what is in one. */
class Spread {
	constructor(nr, width) {
		Object.assign(this, { width, cells: new Float64Array(nr), covered: new Int32Array(nr + 1) });
	}

	/* What began before the first cell is in it. */
	add(begin, end) {
		const { width, cells, covered } = this, last = cells.length - 1;
		const a = Math.min(Math.max(Math.floor(begin / width), 0), last);
		const z = Math.min(Math.max(Math.floor(end / width), 0), last);

		if (a === z) {
			cells[a] += end - begin;
			return;
		}
		cells[a] += (a + 1) * width - begin;
		cells[z] += end - z * width;
		covered[a + 1]++;
		covered[z]--;
	}

	finish() {
		let nr = 0;

		for (let i = 0; i < this.cells.length; i++) {
			nr += this.covered[i];
			this.cells[i] += nr * this.width;
		}
		return this.cells;
	}
}

/* Which of the ranges has it, -1: none; it begins with a guess. */
export function rangeOf(ranges, i, guess) {
	let low = 0, high = ranges.length;

	if (guess >= 0 && ranges[guess] && i >= ranges[guess][0] && i < ranges[guess][1])
		return guess;
	while (low < high) {
		const middle = low + high >> 1;
		if (ranges[middle][0] <= i)
			low = middle + 1;
		else
			high = middle;
	}
	return low && i < ranges[low - 1][1] ? low - 1 : -1;
}
