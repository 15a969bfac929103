// SPDX-License-Identifier: GPL-2.0-or-later
// layout.mjs - where the boxes of a flame graph stand; no drawing.
import { children } from './tree.mjs';

const FLOWS_ON = 0.985;		// a child with that share of its caller is in one row with it
const MIN_WIDTH = 0.2;		// of a pixel: what is narrower is drawn, what is below it is not looked at

/*
 * Boxes {x, width, row, first, last, nr} of node (0: everything) and what is below it, in pixels of width: nr contexts
 * from first to last, each almost all of the one above, are one box. value[node]: as wide as that.
 */
export function layOut(tree, value, node, width) {
	const boxes = [], scale = value[node] > 0 ? width / value[node] : 0;
	const todo = node ? [[node, 0]] : placed(tree, value, 0, 0, scale);
	let rows = 0;

	for (const entry of todo)
		entry.push(0);
	while (scale && todo.length) {
		const [first, x, row] = todo.pop();
		const box = { x, width: value[first] * scale, row, first, last: first, nr: 1 };
		let at = x;
		boxes.push(box);
		rows = Math.max(rows, row + 1);
		while (box.width >= MIN_WIDTH) {
			const below = placed(tree, value, box.last, at, scale);
			const heir = below.find(([child]) => value[child] >= value[box.last] * FLOWS_ON);
			for (const entry of below)
				if (entry !== heir)
					todo.push([...entry, row + 1]);
			if (!heir)
				break;
			[box.last, at] = heir;
			box.nr++;
		}
	}
	return { boxes, rows };
}

/* The children that have a value, and where they begin. */
function placed(tree, value, node, x, scale) {
	const out = [];

	for (const child of children(tree, node)) {
		if (!(value[child] > 0))
			continue;
		out.push([child, x]);
		x += value[child] * scale;
	}
	return out;
}

/*
 * The same upwards or downwards for merged contexts: groups of nodes that are one box. roots: [{consumer, nodes,
 * weights}]; step(nodes, weights) gives the groups of the next row.
 */
export function layOutGroups(roots, step, width, total, maxRows) {
	const boxes = [];
	let rows = 0, row = placeGroups(roots, 0, width / total);

	for (; row.length && rows < maxRows; rows++) {
		const next = [];
		for (const { group, x } of row) {
			const box = { x, width: group.sum * width / total, row: rows, group };
			boxes.push(box);
			if (box.width >= MIN_WIDTH)
				next.push(...placeGroups(step(group), x, width / total));
		}
		row = next;
	}
	return { boxes, rows };
}

function placeGroups(groups, x, scale) {
	const out = [];

	for (const group of groups) {
		out.push({ group, x });
		x += group.sum * scale;
	}
	return out;
}

function group(map, consumer, node, weight) {
	let g = map.get(consumer);

	if (!g)
		map.set(consumer, g = { consumer, nodes: [], weights: [], sum: 0 });
	g.nodes.push(node);
	g.weights.push(weight);
	g.sum += weight;
}

function sorted(map) {
	return [...map.values()].sort((a, b) => b.sum - a.sum || a.consumer - b.consumer);
}

/* Whatever consumes itself, in one group a consumer: the first row of the inverted graph. */
export function leafGroups(tree, base) {
	const map = new Map();

	for (let i = 1; i < tree.nr; i++)
		if (base[i] > 0)
			group(map, tree.consumer[i], i, base[i]);
	return sorted(map);
}

/* Outermost contexts of one consumer, with what is below them. */
export function functionGroup(tree, cum, consumer) {
	const map = new Map();

	for (let k = tree.firstOf[consumer]; k < tree.firstOf[consumer + 1]; k++) {
		const i = tree.byConsumer[k];
		if (tree.rl[i] === 1 && cum[i] > 0)
			group(map, consumer, i, cum[i]);
	}
	return sorted(map);
}

/* Groups of the callers; a root has none. */
export function callers(tree) {
	return ({ nodes, weights }) => {
		const map = new Map();
		nodes.forEach((i, k) => tree.parent[i] && group(map, tree.consumer[tree.parent[i]], tree.parent[i], weights[k]));
		return sorted(map);
	};
}

export function callees(tree, cum) {
	return ({ nodes }) => {
		const map = new Map();
		for (const i of nodes)
			for (const child of children(tree, i))
				if (cum[child] > 0)
					group(map, tree.consumer[child], child, cum[child]);
		return sorted(map);
	};
}

/* How much of each cell of a heat map there is: columns of steps cells, from tick 0 to ticks. */
export function heatCells(data, at, nodeRanges, ticks, columns, steps) {
	const cells = new Float64Array(columns * steps), s = data.samples[at], nr = columns * steps;

	for (const [begin, end] of nodeRanges || [[1, data.parent.length]])
		for (let k = s.first[begin]; k < s.first[end]; k++)
			cells[Math.min(Math.floor(s.ticks[k] * nr / ticks), nr - 1)] += s.weights ? s.weights[k] : 1;
	return cells;
}
