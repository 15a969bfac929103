// SPDX-License-Identifier: GPL-2.0-or-later
// state.mjs - what is shown, as one object that the address of the page holds: back, forward and links work by it.

export const INITIAL = {
	view: '',		// flame, inverted, sandwich, time, overview; '': overview, if it has the first answers
	below: 'flat',		// flat, tree, source, or a table beside the tree
	shape: '',		// which of the page's trees; '': the first
	metric: '',		// its name; '': the first
	fold: 'function',
	threads: '',		// numbers of threads' nodes, separated by commas; '': all
	merge: '',		// threads that are one: '' of a pool, '1' of one name, 'each' none
	ways: false,		// what leads from a thread's start into the program is there
	idle: false,		// waits of idle threads are among the others
	colour: '',		// 'place': by package or module
	hide: '',		// kernel, inlined
	from: '', to: '',	// ticks; '': all
	zoom: 0,		// node
	pick: '',		// the function of the stanza: name and module; '': the hottest
	find: '',
	object: '',		// of a heap, the one that was opened: its id
};

const OTHER_TREE = ['fold', 'merge', 'hide', 'ways', 'idle'];

export function toHash(state) {
	const parts = [];

	for (const key of Object.keys(INITIAL))
		if (state[key] !== INITIAL[key])
			parts.push(`${key}=${encodeURIComponent(state[key] === true ? 1 : state[key])}`);
	return parts.length ? '#' + parts.join('&') : '#';
}

export function fromHash(hash) {
	const state = { ...INITIAL };

	for (const part of hash.replace(/^#/, '').split('&')) {
		const at = part.indexOf('='), key = part.slice(0, at);
		if (at < 1 || !(key in INITIAL))
			continue;
		let text;
		try {
			text = decodeURIComponent(part.slice(at + 1));
		} catch (e) {
			continue;	// a link that was cut
		}
		if (typeof INITIAL[key] === 'boolean')
			state[key] = text === '1';
		else if (typeof INITIAL[key] === 'number')
			state[key] = Math.max(0, Math.trunc(Number(text)) || 0);
		else
			state[key] = text;
	}
	return state;
}

/* The state with changes; nodes have other numbers in another tree. */
export function change(state, changes) {
	const next = { ...state, ...changes };

	if (OTHER_TREE.some(key => next[key] !== state[key]) && !('zoom' in changes))
		next.zoom = 0;
	return next;
}
