// SPDX-License-Identifier: GPL-2.0-or-later
// tree.mjs - calling contexts in typed arrays, in preorder: what follows from parents and consumers alone.

/* Whole numbers below a limit. Two kinds of arrays at most: with each more, loops over them are slower. */
export function numbersBelow(limit, nr) {
	return limit <= 65536 ? new Uint16Array(nr) : new Uint32Array(nr);
}

/*
 * end[i]: the subtree of i is [i, end[i]). rl[i]: how many times the consumer is on the path to i, i included.
 * Nodes of consumer c: byConsumer[firstOf[c] .. firstOf[c + 1]).
 */
export function makeTree(parent, consumer, nrConsumers, end = subtreeEnds(parent)) {
	const nr = parent.length;
	const t = { nr, nrConsumers, parent, consumer, end };

	t.rl = recursionLevels(t, Uint16Array) || recursionLevels(t, Uint32Array);
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

/* As an array of that kind; null: it cannot hold them. */
function recursionLevels(t, Kind) {
	const { nr, parent, consumer } = t, open = new Uint32Array(t.nrConsumers), rl = new Kind(nr), most = 2 ** (8 * Kind.BYTES_PER_ELEMENT);
	let before = 0;

	for (let i = 1; i < nr; i++) {
		for (; before !== parent[i]; before = parent[before])
			open[consumer[before]]--;
		if (++open[consumer[i]] === most)
			return null;
		rl[i] = open[consumer[i]];
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
	const { nr, parent, consumer } = t, nodeOf = new Uint32Array(nr), nodes = new NodeSet(nrConsumers);

	for (let i = 1; i < nr; i++) {
		const above = nodeOf[parent[i]], c = to[consumer[i]];
		const own = !c || (above && nodes.consumer[above] === c && (merge === true || merge === c));
		nodeOf[i] = own ? above : nodes.below(above, c);
	}
	return inPreorder(nodes, nodeOf, nrConsumers);
}

const LEAST_NODES = 1024;

/*
 * Nodes by parent and consumer, numbered as they come: a hash table of open addressing, which is as large as they are many.
 * They are asked for in preorder, so what is tried first is close to that of nodes before; only then it is anywhere.
 */
class NodeSet {
	constructor(nrConsumers) {
		this.nr = 1;	// 0 is the root
		this.parent = new Uint32Array(LEAST_NODES);
		this.consumer = numbersBelow(nrConsumers, LEAST_NODES);
		this.slots = new Uint32Array(2 * LEAST_NODES);	// 0: free
	}

	/* The node of that parent and consumer, which is made if there is none. */
	below(parent, consumer) {
		const at = this.slotOf(parent, consumer), node = this.slots[at];

		if (node)
			return node;
		this.slots[at] = this.nr;
		this.parent[this.nr] = parent;
		this.consumer[this.nr] = consumer;
		if (++this.nr === this.parent.length)
			this.grow();
		return this.nr - 1;
	}

	slotOf(parent, consumer) {
		const { slots } = this, mask = slots.length - 1;
		const step = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(consumer, 0x85ebca6b)) & mask | 1;	// odd: it gets everywhere
		let at = 2 * parent + (consumer & 3) & mask;

		for (let node = slots[at]; node; node = slots[at]) {
			if (this.parent[node] === parent && this.consumer[node] === consumer)
				break;
			at = at + step & mask;
		}
		return at;
	}

	grow() {
		const twice = old => {
			const array = new old.constructor(2 * old.length);
			array.set(old);
			return array;
		};

		this.parent = twice(this.parent);
		this.consumer = twice(this.consumer);
		this.slots = new Uint32Array(2 * this.slots.length);
		for (let i = 1; i < this.nr; i++)
			this.slots[this.slotOf(this.parent[i], this.consumer[i])] = i;
	}
}

/* Nodes that were merged may have children later than others' subtrees: number them again. */
function inPreorder({ nr, parent: parents, consumer: consumers }, nodeOf, nrConsumers) {
	const size = new Uint32Array(nr).fill(1), place = new Uint32Array(nr), next = new Uint32Array(nr);
	const parent = new Int32Array(nr), consumer = numbersBelow(nrConsumers, nr);

	for (let i = nr - 1; i > 0; i--)
		size[parents[i]] += size[i];
	next[0] = 1;	// where the next child of a node begins
	for (let i = 1; i < nr; i++) {	// a parent was made before its children
		const above = parents[i];
		place[i] = next[above];
		next[i] = place[i] + 1;
		next[above] += size[i];
		parent[place[i]] = place[above];
		consumer[place[i]] = consumers[i];
	}
	for (let i = 0; i < nodeOf.length; i++)
		nodeOf[i] = place[nodeOf[i]];
	return { tree: makeTree(parent, consumer, nrConsumers), nodeOf };
}
