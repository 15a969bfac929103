// SPDX-License-Identifier: GPL-2.0-or-later
// data.mjs - the bytes that lib/page/data.c wrote, as typed arrays; Documentation/technical/page.adoc has the layout.

import { learnFamilies } from './names.mjs';
import { numbersBelow } from './tree.mjs';

const MAGIC = 'ARCPAGE1';

/* What a thread does, as the data have it; the rest of the time is unknown. */
export const STATES = ['running', 'runnable', 'asleep', 'disk'];

/*
 * Unsigned LEB128 numbers, their bytes by place: at[k] is where the next k-th byte is. Beyond 2^53 a double cannot hold
 * them; the writer divides by the greatest common divisor.
 */
class Column {
	constructor(bytes, begin, lengths) {
		this.bytes = bytes;
		this.at = [begin];
		for (const length of lengths)
			this.at.push(this.at[this.at.length - 1] + length);
		this.end = this.at.slice(1);
		this.text = bytes.subarray(begin, this.end[0]);
	}

	fill(array, from) {
		const { bytes, at } = this, nr = array.length;
		let low = at[0];

		for (let i = from; i < nr; i++) {
			const byte = bytes[low++];
			array[i] = byte < 128 ? byte : byte - 128 + this.higher();
		}
		at[0] = low;
		if (this.end.some((end, k) => at[k] > end))
			throw new Error('the data of this page are truncated');
		return array;
	}

	higher() {
		const { bytes, at } = this;
		let byte, value = 0, unit = 128;

		for (let k = 1; k < at.length; k++, unit *= 128) {
			byte = bytes[at[k]++];
			value += (byte & 127) * unit;
			if (byte < 128)
				break;
		}
		return value;
	}
}

function openColumns(bytes) {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const magic = new TextDecoder().decode(bytes.subarray(0, 8));

	if (magic !== MAGIC)
		throw new Error('this page has no data that its program can read');
	const length = view.getUint32(8, true);
	const meta = JSON.parse(new TextDecoder().decode(bytes.subarray(12, 12 + length)));
	const begin = 12 + length;
	const column = name => {
		const place = meta.columns[name];
		return place && new Column(bytes, begin + place[0], place.slice(1));
	};

	return { meta, column };
}

function readConsumers(meta, column) {
	const nr = meta.nr_consumers;
	const strings = JSON.parse(new TextDecoder().decode(column('strings').text));
	learnFamilies(meta.kinds, meta.families);
	const text = name => Array.from(column(name).fill(new Uint32Array(nr), 0), id => strings[id]);
	const number = name => column(name).fill(new Uint32Array(nr), 0);

	return {
		nr,
		name: text('consumer.name'),
		module: text('consumer.module'),
		detail: text('consumer.detail'),
		kind: Array.from(number('consumer.kind'), id => meta.kinds[id]),
		pid: number('consumer.pid'),
		tid: number('consumer.tid'),
		changed: column('consumer.changed') ? number('consumer.changed') : null,
		role: column('consumer.role') ? number('consumer.role') : new Uint32Array(nr),
		spent: column('consumer.spent') ? Array.from(number('consumer.spent'), id => meta.spent[id]) : new Array(nr).fill(''),
	};
}

/* A consumer that no node of the data has: what threads wait that have nothing to do is below it, where it is apart. */
function addIdle(consumers) {
	const one = { name: '[idle threads]', module: '', detail: '', kind: 'group', pid: 0, tid: 0, role: 0, spent: '' };

	for (const [part, value] of Object.entries(one))
		consumers[part] = [...consumers[part], value];
	return consumers.nr++;
}

/* Parents and levels from what the preorder left: nodes[i] is below the one up[i] levels above its predecessor. */
function readShape(up) {
	const nr = up.length, parent = new Int32Array(nr), path = [0];
	let level = 0;

	for (let i = 1; i < nr; i++) {
		level += 1 - up[i];
		parent[i] = path[level - 1];
		path[level] = i;
	}
	return parent;
}

/* Of a source with times: its samples, which are stored by node. */
function readSamples(source, n, column, meta) {
	const stored = column(source.name + '.count'), nodes = meta.nr_nodes;
	const count = stored ? stored.fill(new Uint32Array(nodes), 1) : n, nr = count.reduce((a, b) => a + b, 0);
	const ticks = column(source.name + '.ticks').fill(meta.ticks < 65536 ? new Uint16Array(nr) : new Uint32Array(nr), 0);
	const weights = column(source.name + '.weights'), make = () => new Float64Array(nr);
	const lasting = source.lasts ? { tickNs: meta.tick_ns, scale: meta.metrics[source.metric].scale,
		rests: column(source.name + '.rests').fill(make(), 0) } : null;

	for (let i = 1, k = 0; i < nodes; i++)
		for (let tick = 0, end = k + count[i]; k < end; k++)
			ticks[k] = tick += ticks[k];
	return new Samples(count, ticks, weights ? weights.fill(make(), 0) : null, meta.ticks, lasting);
}

/*
 * Samples in order of time: count[node] says how many it has of ticks and weights; weights null: all are 1. Those
 * that last are written when they end, rests[k] ns after the begin of the tick, and have lasted scale ns for each
 * of their weight; lasting {tickNs, scale, rests} or null: they are moments.
 */
export class Samples {
	constructor(count, ticks, weights, nrTicks, lasting = null) {
		Object.assign(this, { count, ticks, weights, nrTicks, lasting, order: null });
		this.first = new Uint32Array(nrTicks + 1);	// those of tick t are [first[t], first[t + 1])
		for (let k = 0; k < ticks.length; k++)
			this.first[ticks[k] + 1]++;
		for (let t = 1; t <= nrTicks; t++)
			this.first[t] += this.first[t - 1];
	}

	/* {node, weights, begins, ends} by time; not needed before something is selected. What lasts has begins and ends. */
	byTime() {
		if (this.order)
			return this.order;
		const { count, ticks, weights, lasting } = this, nr = ticks.length, next = this.first.slice();
		const node = new Uint32Array(nr), of = weights ? new Float64Array(nr) : null;
		const begins = lasting && new Float64Array(nr), ends = lasting && new Float64Array(nr);
		for (let i = 1, k = 0; i < count.length; i++)
			for (let end = k + count[i]; k < end; k++) {
				const at = next[ticks[k]]++;
				node[at] = i;
				if (of)
					of[at] = weights[k];
				if (lasting) {
					ends[at] = ticks[k] * lasting.tickNs + lasting.rests[k];
					begins[at] = ends[at] - (weights ? weights[k] : 1) * lasting.scale;
				}
			}
		this.count = this.ticks = this.weights = null;
		if (lasting)
			lasting.rests = null;
		return this.order = { node, weights: of, begins, ends };
	}

	get isWeighted() {
		return Boolean(this.order ? this.order.weights : this.weights);
	}
}

/* Of each node; whatever of them is added up fits into the same kind of array. */
function readCounts(column, nodes) {
	const counts = column.fill(new Float64Array(nodes), 1);

	return counts.reduce((a, b) => a + b, 0) < 2 ** 32 ? Uint32Array.from(counts) : counts;
}

/*
 * {meta, consumers, parent, consumer, n, base: [metric], samples: [source] or null, states or null, idle or null, plots or null}:
 * node 0 is the invisible root, the others are in preorder. Values are in the unit of their metric. idle: {of: [node], consumer}.
 */
export function decode(bytes) {
	const { meta, column } = openColumns(bytes);
	const nodes = meta.nr_nodes, n = readCounts(column('n'), nodes);
	const data = {
		meta, n,
		consumers: readConsumers(meta, column),
		parent: readShape(column('up').fill(new Uint32Array(nodes), 1)),
		consumer: column('consumer').fill(numbersBelow(meta.nr_consumers + 1, nodes), 1),
	};

	data.base = meta.metrics.map((metric, m) => {
		const stored = column('base.' + m), of = new Float64Array(nodes);
		if (stored)
			stored.fill(of, 1);
		else
			of.set(n);
		if (metric.scale !== 1)
			for (let i = 1; i < nodes; i++)
				of[i] *= metric.scale;
		return of;
	});
	data.idle = column('idle') ? { of: column('idle').fill(new Uint8Array(nodes), 1), consumer: addIdle(data.consumers) } : null;
	data.states = meta.states ? readStates(meta.states, column('states')) : null;
	data.plots = meta.plots ? readPlots(meta, column) : null;
	data.samples = meta.sources.map(s => s.timed ? readSamples(s, n, column, meta) : null);
	return data;
}

/* Of each thread with dispatches: shares[state * cells + cell], where whole is all of the cell. */
function readStates({ cells, whole, threads }, column) {
	const each = STATES.length * cells, shares = column.fill(new Uint8Array(threads.length * each), 0);

	return { cells, whole, threads: threads.map((t, k) => ({ ...t, shares: shares.subarray(k * each, (k + 1) * each) })) };
}

/*
 * How long calls of functions took: {functions: names, parts: names of what their time went to, unknown: those that were not
 * recorded, of(function): {start, span: ns, cells: by when they began, equal parts of that, bins: by how long they took}}, each
 * {n, max, sum, parts: [ns]}.
 */
function readPlots({ plots }, column) {
	const known = plots.parts.map((part, k) => ({ ...part, k })).filter(part => part.known), { functions, cells, bins } = plots;
	const read = name => column(name).fill(new Float64Array(functions.length * (cells + bins)), 0);

	return plotsOf(plots, known, read('plots.n'), read('plots.max'), known.map(({ k }) => read('plots.' + k)));
}

/* Apart from what reads them: of() must not keep all bytes of the data. */
function plotsOf(plots, known, n, max, parts) {
	const { functions, cells, bins } = plots, each = cells + bins;
	const sum = at => ({ n: n[at], max: max[at], sum: parts.reduce((ns, of) => ns + of[at], 0), parts: parts.map(of => of[at]) });

	return { functions: functions.map(f => f.name), parts: known.map(part => part.name), unknown: plots.parts.filter(part => !part.known).map(part => part.name),
		of: k => ({ start: functions[k].start_ns, span: functions[k].span_ns, cells: Array.from({ length: cells }, (_, i) => sum(k * each + i)),
			bins: Array.from({ length: bins }, (_, i) => sum(k * each + cells + i)) }) };
}

const STEP_BYTES = 65536;

/* What the page holds as text: base64 of gzip, which ends with how long it is unpacked. That goes where it stays, piece by piece. */
export async function unpack(base64) {
	const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(base64) : fromBase64(base64);
	const out = new Uint8Array(new DataView(packed.buffer, packed.length - 4).getUint32(0, true));
	const { readable, writable } = new DecompressionStream('gzip'), reader = readable.getReader(), writer = writable.getWriter();
	let length = 0;
	const write = async () => {
		for (let at = 0; at < packed.length; at += STEP_BYTES)
			await writer.write(packed.subarray(at, at + STEP_BYTES));
		await writer.close();
	};
	const read = async () => {
		for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
			out.set(piece.value, length);
			length += piece.value.length;
		}
	};

	await Promise.all([write(), read()]);
	return out;
}

function fromBase64(text) {
	const binary = atob(text), bytes = new Uint8Array(binary.length);

	for (let i = 0; i < binary.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}
