// SPDX-License-Identifier: GPL-2.0-or-later
// live.mjs - a page that "arcprof view --serve" makes anew while its trace grows: what came, and what was shown in it.
import { idOf } from './model.mjs';
import { children, pathTo } from './tree.mjs';

/* Nodes of another tree by the names on the path to a node of this one, as far as it has them; both: {tree, consumers}. */
function sharedPath(before, node, now) {
	const out = [];
	let at = 0;

	for (const i of pathTo(before.tree, node)) {
		const id = idOf(before.consumers, before.tree.consumer[i]);
		let found = 0;
		for (const child of children(now.tree, at))
			if (idOf(now.consumers, now.tree.consumer[child]) === id) {
				found = child;
				break;
			}
		if (!found)
			break;
		out.push(at = found);
	}
	return out;
}

/* The same context in another tree; 0: it has none. */
export function sameNode(before, node, now) {
	const path = sharedPath(before, node, now);

	return path.length === pathTo(before.tree, node).length && path.length ? path[path.length - 1] : 0;
}

/*
 * A state of the model before as one of the model now, whose nodes have other numbers, and whose ticks may be longer. What is
 * zoomed to and is not there any more becomes what was around it.
 */
export function carryState(state, before, now) {
	const tick = (text, round) => (text === '' ? '' :
		String(Math.min(round(Number(text) * before.meta.tick_ns / now.meta.tick_ns), now.meta.ticks)));
	const of = ({ tree, data: { consumers } }) => ({ tree, consumers }), asked = state.threads.split(',').filter(Boolean).map(Number);
	const threads = asked.filter(i => i > 0 && i < before.tree.nr).map(i => sameNode(of(before), i, of(now))).filter(i => i);
	const next = { ...state, from: tick(state.from, Math.floor), to: tick(state.to, Math.ceil), threads: threads.sort((a, b) => a - b).join(',') };

	if (state.zoom) {
		const folded = before.folded(state), path = state.zoom < folded.tree.nr ? sharedPath(folded, state.zoom, now.folded(next)) : [];
		next.zoom = path.length ? path[path.length - 1] : 0;
	}
	return next;
}

/* What an element of the page has; none of these has markup in it. */
export function partOf(text, id) {
	const begin = text.indexOf('>', text.indexOf(`<script id="${id}"`)) + 1;

	return text.slice(begin, text.indexOf('<', begin)).trim();
}

/*
 * Asks the server for the page as long as it says that this is made anew, and gives it to take(text) if it has changed.
 * ask(method, tag): a promise of {status, tag, seconds: until it is worth to ask again, 0: it stays, text(): a promise};
 * wait(seconds): a promise. say(text): how it goes.
 */
export async function followPage({ ask, wait, take, say }) {
	const answered = (...of) => ask(...of).catch(() => ({ status: 0, tag: '', seconds: 0 }));
	let { seconds } = await answered('HEAD', ''), tag = '';

	while (seconds) {
		say('● live');
		await wait(seconds);
		const answer = await answered('GET', tag);
		if (answer.status === 200) {
			tag = answer.tag;
			await take(await answer.text());
		}
		if (!(seconds = answer.seconds))
			say('no longer live');
	}
}

/* Nobody asks for a page that is not seen. */
function untilSeen() {
	return new Promise(done => {
		const look = () => {
			if (document.hidden)
				return;
			document.removeEventListener('visibilitychange', look);
			done();
		};
		document.addEventListener('visibilitychange', look);
		look();
	});
}

export async function askServer(method, tag) {
	const answer = await fetch(location.pathname, { method, cache: 'no-store', headers: tag ? { 'If-None-Match': tag } : {} });

	return { status: answer.status, tag: answer.headers.get('ETag'), seconds: Number(answer.headers.get('Arcprof-Live')),
		text: () => answer.text() };
}

export async function waitSeconds(seconds) {
	await new Promise(done => setTimeout(done, seconds * 1000));
	await untilSeen();
}
