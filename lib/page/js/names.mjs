// SPDX-License-Identifier: GPL-2.0-or-later
// names.mjs - what things are called, in little room: functions, amounts, kinds; and what consumers fold into.
import { IS_ENTRY } from './roles.mjs';

/* What the page says of callers and callees, and of what keeps objects and what they keep. */
const CODE = {
	function: 'function', functions: 'Functions', contexts: 'Calling contexts', calledBy: 'Called by', calls: 'Calls',
	withCallees: 'with callees', itself: 'itself', self: 'self', total: 'total', byItself: 'Most by itself',
	mostWithCallees: 'Most with callees', addUp: 'callers and callees add up', reachedBy: 'Reached by',
	uses: 'uses most by itself', again: 'again', againTitle: 'of calls below itself, which total has already',
	totalTitle: 'with callees; each outermost call once', againBelow: 'Called again below itself',
	againBy: 'Called again by', callsThere: 'Calls there', many: 'functions', n: n => `n ${n}`,
};
const DOMINATORS = {
	...CODE, function: 'class', functions: 'Classes', contexts: 'What keeps what', calledBy: 'Kept by', calls: 'Keeps',
	withCallees: 'retained', itself: 'its own', self: 'own', total: 'retained', byItself: 'Most of their own',
	mostWithCallees: 'Retain most', addUp: 'what it keeps adds up', reachedBy: 'Kept by, up to the root', uses: 'has most of its own',
	againTitle: 'of objects kept by others of the class, which retained has already',
	totalTitle: 'what would be freed with these objects; each outermost one once', againBelow: 'Kept again by itself',
	againBy: 'Kept again by', callsThere: 'Keeps there', many: 'classes', n: n => `${n} objects`,
};
const CONTAINMENT = {
	...DOMINATORS, contexts: 'What contains what', calledBy: 'Contained in', calls: 'Contains', withCallees: 'with contents',
	total: 'contents', mostWithCallees: 'Contain most', addUp: 'what it contains adds up', reachedBy: 'Contained in, up to the root',
	totalTitle: 'with all that was first reached through these objects', againBelow: 'Contained in itself again',
	againTitle: 'of objects in others of the class, which contents has already',
	againBy: 'Contained again in', callsThere: 'Contains there',
};
const PATHS = {
	...CONTAINMENT, contexts: 'Shortest paths from the roots', calledBy: 'Referred to by', calls: 'Refers to',
	withCallees: 'at ends of paths through it', total: 'at ends', addUp: 'all paths add up', reachedBy: 'Reached by',
	totalTitle: 'objects that were asked for, at the ends of paths through these',
};
const WORDS = { code: CODE, dominators: DOMINATORS, containment: CONTAINMENT, paths: PATHS };

/* Those of the page's data: of a heap, by what its tree is. */
export function wordsOf(meta, tree) {
	return meta.n_means === 'objects' ? WORDS[tree] || DOMINATORS : CODE;
}

const JAVA = /^java/;

export function isJava(kind) {
	return JAVA.test(kind);
}

/* What stands above functions. */
const PLACES = new Set(['host', 'group', 'process', 'thread', 'label']);

export function isPlace(kind) {
	return PLACES.has(kind);
}

export function isFunction(kind) {
	return !PLACES.has(kind) && !['mark', ''].includes(kind);
}

/* "java.util.HashMap.put(Ljava/lang/Object;)V" without its signature. */
function withoutSignature(name) {
	const at = name.indexOf('(');

	return at > 0 ? name.slice(0, at) : name;
}

/* From the full name to what says least: "a.b.C.m", "C.m", "m". The address in a hidden class' name says nothing. */
export function shortNames(name, kind) {
	if (isJava(kind)) {
		const bare = withoutSignature(name).replace(/[+/]0x[0-9a-f]+/g, '');
		const parts = bare.split('.');
		const out = [bare];
		if (parts.length > 2)
			out.push(parts.slice(-2).join('.'));
		if (parts.length > 1)
			out.push(parts[parts.length - 1]);
		return out;
	}
	if (!/^(native|kernel)/.test(kind))
		return [name];
	const bare = withoutArguments(name), at = bare.lastIndexOf('::');
	return at > 0 ? [name, bare, bare.slice(at + 2)] : bare === name ? [name] : [name, bare];
}

/* C++: "ns::f<int>(char*) const" to "ns::f". */
function withoutArguments(name) {
	let depth = 0, out = '';

	for (const ch of name) {
		if (ch === '(' && depth === 0 && out && !out.endsWith('operator') && !out.endsWith('::'))
			break;
		if (ch === '<' && !/operator<?$/.test(out))
			depth++;
		else if (ch === '>' && depth > 0)
			depth--;
		else if (!depth)
			out += ch;
	}
	return withoutType(out) || name;
}

/* Templates have their return type before their name. */
function withoutType(name) {
	return /(^|::)operator/.test(name) ? name : name.slice(name.lastIndexOf(' ') + 1);
}

/* The name as reports print it: processes and threads with their numbers. */
export function fullName(consumers, c) {
	if (!c)
		return '[root]';
	const kind = consumers.kind[c];
	if (kind === 'process' && consumers.pid[c])
		return `${consumers.name[c]} [pid ${consumers.pid[c]}]`;
	if (kind === 'thread' && consumers.tid[c])
		return `${consumers.name[c]} [tid ${consumers.tid[c]}]`;
	return consumers.name[c];
}

export function moduleName(consumers, c) {
	const path = consumers.module[c];

	return path ? path.slice(path.lastIndexOf('/') + 1) : '';
}

/* Kinds that have one colour and one word in the legend: kind to family, as the page's data say. */
const FAMILIES = new Map();

export function learnFamilies(kinds, families) {
	kinds.forEach((kind, i) => FAMILIES.set(kind, families[i]));
}

export const FAMILY_WORDS = {
	java: 'Java', inlined: 'Java, inlined', interpreted: 'Java, interpreted', stub: 'JVM stubs', native: 'native',
	kernel: 'kernel', process: 'process or thread', mark: 'unknown', object: 'objects', other: 'other',
};

export function family(kind) {
	return FAMILIES.get(kind) || 'other';
}

/* What time of the event wall goes to (model/roles.h), and its colour. */
const SPENT = { running: 'on', runnable: 'ready', lock: 'lock', 'I/O': 'io', network: 'net', sleep: 'slept', GC: 'gc', other: 'rest', idle: 'idle' };
const SPENT_WORDS = {
	on: 'running', ready: 'runnable', lock: 'locks, conditions', io: 'I/O', net: 'network', slept: 'sleep', gc: 'GC, stops of the JVM',
	rest: 'other waits', idle: 'nothing to do',
};

export function spentColour(name) {
	return SPENT[name] || 'rest';
}

export const HUES = 12;

/* The same name has the same one in each page. */
function hue(name) {
	let sum = 0;

	for (let i = 0; i < name.length; i++)
		sum = (sum * 31 + name.charCodeAt(i)) >>> 0;
	return 'hue' + sum % HUES;
}

/* The package of a method, the module of native code; '': nothing says that. */
function packageOf(consumers, c) {
	const kind = consumers.kind[c], name = consumers.name[c];

	if (kind === 'folded')
		return name;
	if (kind === 'any' && !consumers.module[c])
		return name.includes('.') ? javaPrefix(name, 2) : name.includes('::') ? name.slice(0, name.indexOf('::')) : '';
	return isJava(kind) || kind === 'class' ? foldedName(consumers, c, 'package') : moduleName(consumers, c);
}

/*
 * The name of a colour of the style sheet, and the word for it in the legend: of waits by what they wait for, of what is folded,
 * and of all functions if byPlace, by package or module; else by kind of code.
 */
export function colourOf(consumers, c, byPlace) {
	const kind = consumers.kind[c], isWay = kind === 'folded' && consumers.name[c].startsWith('[');

	if (consumers.spent[c])
		return spentColour(consumers.spent[c]);
	if (isWay || !isFunction(kind) || !(byPlace || kind === 'folded' || kind === 'any'))
		return isWay ? 'stub' : family(kind);
	const place = packageOf(consumers, c);
	return place ? hue(place) : family(kind);
}

export function colourWord(consumers, c, colour) {
	return SPENT_WORDS[colour] || (colour.startsWith('hue') ? packageOf(consumers, c) : FAMILY_WORDS[colour]);
}

export function spentWord(name) {
	return SPENT_WORDS[spentColour(name)];
}

const TIMES = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
const COUNTS = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']];

function digits(value) {
	return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/* "579 ms", "12.3 k", "4.5 MB". */
export function amount(value, unit) {
	if (unit === 'ns') {
		const [size, word] = TIMES.find(([s]) => value >= s) || TIMES[3];
		return value ? `${digits(value / size)} ${word}` : '0';
	}
	const found = COUNTS.find(([s]) => value >= s), bytes = unit === 'bytes' || unit === 'B';
	if (!found)
		return bytes ? `${value} B` : String(value);
	return `${digits(value / found[0])} ${found[1]}${bytes ? 'B' : ''}`;
}

export function share(value, total) {
	return total ? value / total * 100 : 0;
}

export function percent(value, total) {
	const p = share(value, total);

	return p && p < 0.01 ? '<0.01' : p >= 10 ? p.toFixed(1) : p.toFixed(2);
}

/* The name without its last one or two dotted parts. */
function javaPrefix(name, parts) {
	const all = withoutSignature(name).split('.');

	return all.slice(0, Math.max(all.length - parts, 0)).join('.') || '[default package]';
}

/* Of objects; the other words of a heap, such as [JNI globals], stay. */
function classFolded(name, fold) {
	const at = name.lastIndexOf('.');

	if (fold === 'class' || fold === 'file' || name.startsWith('['))
		return name;
	return at > 0 ? name.slice(0, at) : '[default package]';
}

function foldedName(consumers, c, fold) {
	const kind = consumers.kind[c], java = isJava(kind);

	if (kind === 'class' && fold !== 'module')
		return classFolded(consumers.name[c], fold);
	if (fold === 'file')
		return consumers.detail[c] ? consumers.detail[c].replace(/:\d+$/, '') : '[no file]';
	if (java && fold !== 'module')
		return javaPrefix(consumers.name[c], fold === 'class' ? 1 : 2);
	if (java || kind === 'stub')
		return '[java]';
	return moduleName(consumers, c) || '[no module]';
}

/*
 * What every consumer becomes: {consumers, to, merge}. fold: line, function, class, package, module or file; threads: each,
 * name (those of one name are one) or pool (so are those whose names differ by numbers); ways: what only leads into the
 * program is shown; without: kinds (a Set of 'kernel', 'inlined') whose costs are their callers'. A method that was
 * interpreted, compiled and inlined is of the kind with most weight.
 */
export function foldConsumers(consumers, weight, { fold, threads, ways, without }) {
	const out = { nr: 1, name: [''], module: [''], detail: [''], kind: [''], pid: [0], tid: [0], changed: [0], role: [0], spent: [''] };
	const ids = new Map(), to = new Uint32Array(consumers.nr), most = [0], pools = threads === 'pool' ? poolsOf(consumers) : null;
	let way = 0;

	for (let c = 1; c < consumers.nr; c++) {
		const isWay = !ways && consumers.role[c] & IS_ENTRY && ['function', 'line'].includes(fold);
		const one = isWay ? { ...WAY } : foldOne(consumers, c, fold, threads, pools);
		if ((without.has('kernel') && one.kind === 'kernel') ||
		    (without.has('inlined') && /-inlined$/.test(consumers.kind[c])))
			continue;
		const key = `${one.name}\0${one.module}\0${one.detail}\0${one.family}\0${one.pid}\0${one.tid}`;
		let id = ids.get(key);
		if (id && weight[c] > most[id]) {
			most[id] = weight[c];
			out.kind[id] = one.kind;
		}
		if (!id) {
			most[out.nr] = weight[c];
			ids.set(key, id = out.nr++);
			for (const part of ['name', 'module', 'detail', 'kind', 'pid', 'tid'])
				out[part].push(one[part]);
			out.changed.push(0);
			out.role.push(consumers.role[c]);
			out.spent.push(consumers.spent[c]);
			way = isWay ? id : way;
		}
		if (fold === 'function' && consumers.changed && consumers.changed[c])
			out.changed[id] = 1;
		to[c] = id;
	}
	return { consumers: out, to, merge: ['line', 'function'].includes(fold) ? way : true };
}

/* What leads from a thread's start to what the thread is for, as one. */
const WAY = { name: '[thread entry]', module: '', detail: '', kind: 'folded', family: 'folded', pid: 0, tid: 0 };

/* Names of threads with their numbers left out, of those that several threads of a process have. */
function poolsOf({ nr, name, kind, pid }) {
	const count = new Map(), keyOf = c => `${pid[c]} ${poolName(name[c])}`, pool = new Map();

	for (let c = 1; c < nr; c++)
		if (kind[c] === 'thread')
			count.set(keyOf(c), (count.get(keyOf(c)) || 0) + 1);
	for (let c = 1; c < nr; c++)
		if (kind[c] === 'thread' && count.get(keyOf(c)) > 1)
			pool.set(c, poolName(name[c]));
	return pool;
}

export function poolName(name) {
	return name.replace(/\d+/g, '*');
}

function foldOne(consumers, c, fold, threads, pools) {
	const kind = consumers.kind[c], stays = PLACES.has(kind) || ['reason', 'file', 'mark'].includes(kind);
	const one = {
		name: consumers.name[c], module: consumers.module[c], detail: consumers.detail[c], kind,
		pid: consumers.pid[c], tid: consumers.tid[c], family: isJava(kind) ? 'java' : kind.replace(/-inlined$/, ''),
	};

	if (stays) {
		if (kind === 'thread' && (threads === 'name' || (pools && pools.has(c)))) {
			one.pid = one.tid = 0;
			one.name = pools ? pools.get(c) : one.name;
		}
		return one;
	}
	if (fold === 'line')
		return one;
	one.detail = '';
	if (fold !== 'function') {
		one.name = foldedName(consumers, c, fold);
		one.module = isJava(kind) || kind === 'stub' ? '' : one.module;
		one.family = one.kind = 'folded';
	}
	return one;
}
