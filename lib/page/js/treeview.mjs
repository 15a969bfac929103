// SPDX-License-Identifier: GPL-2.0-or-later
// treeview.mjs - xtree: contexts as rows that open and close.
import { children, hasChildren } from './tree.mjs';

const OPEN_BY_ITSELF = 0.9;	// of its caller: one path down is open at once

export class TreeRows {
	constructor() {
		this.key = '';
		this.open = new Set();
	}

	/* Rows in sight, for the look and the node that is zoomed to. */
	rows(look, zoom) {
		const key = look.key + '|' + zoom;

		if (key !== this.key) {
			this.key = key;
			this.open = new Set();
			this.openHot(look, zoom);
		}
		const out = [], cum = look.sums.cum[look.metric];
		const add = (node, level) => {
			const kids = [...children(look.tree, node)].filter(c => cum[c] > 0).sort((a, b) => cum[b] - cum[a] || a - b);
			const todo = kids.map(c => [c, level]).reverse();
			while (todo.length) {
				const [i, depth] = todo.pop();
				out.push({ node: i, level: depth });
				if (!this.open.has(i))
					continue;
				const below = [...children(look.tree, i)].filter(c => cum[c] > 0);
				below.sort((a, b) => cum[a] - cum[b] || b - a);
				for (const c of below)
					todo.push([c, depth + 1]);
			}
		};
		if (zoom)
			out.push({ node: zoom, level: 0 });
		if (!zoom || this.open.has(zoom))
			add(zoom, zoom ? 1 : 0);
		return out;
	}

	openHot(look, zoom) {
		const cum = look.sums.cum[look.metric];
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

	toggle(node) {
		if (!this.open.delete(node))
			this.open.add(node);
	}

	/* So that the node is in sight. */
	reveal(look, node) {
		for (let i = look.tree.parent[node]; i; i = look.tree.parent[i])
			this.open.add(i);
	}
}

export function canOpen(look, node) {
	return hasChildren(look.tree, node);
}
