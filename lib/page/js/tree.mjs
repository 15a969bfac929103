// SPDX-License-Identifier: GPL-2.0-or-later
// tree.mjs - calling contexts in typed arrays, in preorder: what follows from parents and consumers alone.

/*
 * end[i]: the subtree of i is [i, end[i]). rl[i]: how many times the consumer is on the path to i, i included.
 * Nodes of consumer c: byConsumer[firstOf[c] .. firstOf[c + 1]).
 */
export function makeTree(parent, consumer, nrConsumers) {
	const nr = parent.length;
	const t = { nr, nrConsumers, parent, consumer };

	t.end = subtreeEnds(parent);
	t.rl = recursionLevels(t);
	t.firstOf = new Uint32Array(nrConsumers + 1);
	for (let i = 1; i < nr; i++)
		t.firstOf[consumer[i] + 1]++;
	for (let c = 0; c < nrConsumers; c++)
		t.firstOf[c + 1] += t.firstOf[c];
	const next = t.firstOf.slice();
	t.byConsumer = new Uint32Array(Math.max(nr - 1, 0));
	for (let i = 1; i < nr; i++)
		t.byConsumer[next[consumer[i]]++] = i;
	return t;
}

export function subtreeEnds(parent) {
	const nr = parent.length, end = new Uint32Array(nr);

	for (let i = nr - 1; i > 0; i--) {
		end[i] = Math.max(end[i], i + 1);
		end[parent[i]] = Math.max(end[parent[i]], end[i]);
	}
	end[0] = nr;
	return end;
}

function recursionLevels(t) {
	const { nr, parent, consumer } = t, open = new Uint32Array(t.nrConsumers), rl = new Uint32Array(nr);
	let before = 0;

	for (let i = 1; i < nr; i++) {
		for (; before !== parent[i]; before = parent[before])
			open[consumer[before]]--;
		rl[i] = ++open[consumer[i]];
		before = i;
	}
	return rl;
}

export function* children(t, node) {
	for (let i = node + 1; i < t.end[node]; i = t.end[i])
		yield i;
}

export function hasChildren(t, node) {
	return t.end[node] > node + 1;
}

/* From the outermost to node itself. */
export function pathTo(t, node) {
	const path = [];

	for (let i = node; i; i = t.parent[i])
		path.push(i);
	return path.reverse();
}

/*
 * Another tree of the same contexts: consumer c becomes to[c]; 0: its caller is charged. Siblings that became
 * equal are one; merge: so is a node and its caller, of that consumer or, if it is true, of any. nodeOf[i]: where node i of the old tree went.
 */
export function mapTree(t, to, nrConsumers, merge) {
	const array = () => new Uint32Array(t.nr), nodeOf = array(), parents = array(), consumers = array();
	const first = array(), last = array(), next = array();	// old nodes of a new one, as a list; 0 ends it
	const made = new Uint32Array(nrConsumers);	// the last new node of the consumer
	let nr = 1;

	for (let node = 0; node < nr; node++) {
		const begin = nr;
		let old = first[node];
		do {
			for (let i = old + 1; i < t.end[old]; i = t.end[i]) {
				const c = to[t.consumer[i]], own = !c || (node && consumers[node] === c && (merge === true || merge === c));
				let target = own ? node : made[c];
				if (!own && target < begin) {
					target = made[c] = nr++;
					parents[target] = node;
					consumers[target] = c;
					first[target] = i;
				} else {
					next[last[target]] = i;
				}
				last[target] = i;
				nodeOf[i] = target;
			}
			old = next[old];
		} while (old);
	}
	return inPreorder(parents.subarray(0, nr), consumers, nodeOf, nrConsumers);
}

/* Nodes that were merged may have children later than others' subtrees: number them again. */
function inPreorder(parents, consumers, nodeOf, nrConsumers) {
	const nr = parents.length, size = new Uint32Array(nr).fill(1), place = new Uint32Array(nr);
	const used = new Uint32Array(nr);
	const parent = new Int32Array(nr), consumer = new Uint32Array(nr);

	for (let i = nr - 1; i > 0; i--)
		size[parents[i]] += size[i];
	for (let i = 1; i < nr; i++) {	// a parent was made before its children
		const above = parents[i];
		place[i] = place[above] + 1 + used[above];
		used[above] += size[i];
		parent[place[i]] = place[above];
		consumer[place[i]] = consumers[i];
	}
	for (let i = 0; i < nodeOf.length; i++)
		nodeOf[i] = place[nodeOf[i]];
	return { tree: makeTree(parent, consumer, nrConsumers), nodeOf };
}
