// SPDX-License-Identifier: GPL-2.0-or-later
// treeview.mjs - xtree: contexts as rows that open and close.
import { children, hasChildren } from './tree.mjs';

const OPEN_BY_ITSELF = 0.9;	// of its caller: one path down is open at once

/* Of each node; of a difference that of the larger side, so that what only one side has is there. */
export function weights(look) {
	if (!look.sides)
		return look.sums.cum[look.metric];
	const [a, b] = look.sides.cum;

	return look.sides.larger ??= a.map((x, i) => Math.max(x, b[i]));
}

function rowsKey(look, zoom) {
	return look.key + '|' + zoom;
}

export class TreeRows {
	constructor() {
		this.key = '';
		this.open = new Set();
	}

	/* Rows in sight, for the look and the node that is zoomed to. */
	rows(look, zoom) {
		const key = rowsKey(look, zoom);

		if (key !== this.key) {
			this.key = key;
			this.open = new Set();
			this.openHot(look, zoom);
		}
		const out = [], cum = weights(look), todo = zoom ? [[zoom, 0]] : rowsBelow(look.tree, cum, 0, 0);
		while (todo.length) {
			const [node, level] = todo.pop();
			out.push({ node, level });
			if (this.open.has(node))
				for (const row of rowsBelow(look.tree, cum, node, level + 1))
					todo.push(row);
		}
		return out;
	}

	openHot(look, zoom) {
		const cum = weights(look);
		let node = zoom;

		for (;;) {
			let best = 0;
			for (const c of children(look.tree, node))
				if (!best || cum[c] > cum[best])
					best = c;
			if (!best)
				return;
			if (node)
				this.open.add(node);
			if (node && cum[best] < cum[node] * OPEN_BY_ITSELF && this.open.size > 2)
				return;
			node = best;
		}
	}

	/* The same rows of another look; to(node): what has become of a node, 0: it is not there any more. */
	move(look, zoom, to) {
		this.key = rowsKey(look, zoom);
		this.open = new Set([...this.open].map(to).filter(node => node));
	}

	toggle(node) {
		if (!this.open.delete(node))
			this.open.add(node);
	}
}

/* Children as [node, level], the heaviest last. */
function rowsBelow(tree, cum, node, level) {
	const out = [];

	for (const child of children(tree, node))
		if (cum[child] > 0)
			out.push([child, level]);
	return out.sort(([a], [b]) => cum[a] - cum[b] || b - a);
}

export function canOpen(look, node) {
	return hasChildren(look.tree, node);
}
