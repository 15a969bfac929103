// SPDX-License-Identifier: GPL-2.0-or-later
// data.mjs - the bytes that lib/page/data.c wrote, as typed arrays; Documentation/technical/page.adoc has the layout.

const MAGIC = 'ARCPAGE1';

/* Reads unsigned LEB128 numbers of a column one after the other. */
class Column {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}

	/* Beyond 2^53 a double cannot hold them; the writer divides by the greatest common divisor. */
	next() {
		const b = this.bytes;
		let byte = b[this.at++];

		if (byte < 128)
			return byte;
		let value = byte & 127, unit = 128;
		do {
			byte = b[this.at++];
			value += (byte & 127) * unit;
			unit *= 128;
		} while (byte > 127);
		return value;
	}

	fill(array, from) {
		for (let i = from; i < array.length; i++)
			array[i] = this.next();
		if (this.at > this.bytes.length)
			throw new Error('the data of this page are cut short');
		return array;
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
		return place && new Column(bytes.subarray(begin + place[0], begin + place[0] + place[1]));
	};

	return { meta, column };
}

function readConsumers(meta, column) {
	const nr = meta.nr_consumers;
	const strings = JSON.parse(new TextDecoder().decode(column('strings').bytes));
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
	};
}

/* Parents and levels from what the preorder left: nodes[i] is below the one up[i] levels above its predecessor. */
function readShape(nr, up) {
	const parent = new Int32Array(nr), path = [0];
	let level = 0;

	for (let i = 1; i < nr; i++) {
		level += 1 - up.next();
		parent[i] = path[level - 1];
		path[level] = i;
	}
	return parent;
}

/* Of a source with times: its samples by node, the ticks of each in order. */
function readSamples(source, n, column, nodes) {
	const count = column(source.name + '.count');
	const perNode = count ? count.fill(new Uint32Array(nodes), 1) : Uint32Array.from(n);
	const first = new Uint32Array(nodes + 1);

	for (let i = 0; i < nodes; i++)
		first[i + 1] = first[i] + perNode[i];
	const nr = first[nodes], ticks = new Uint32Array(nr), steps = column(source.name + '.ticks');
	for (let i = 1; i < nodes; i++) {
		let tick = 0;
		for (let k = first[i]; k < first[i + 1]; k++)
			ticks[k] = tick += steps.next();
	}
	const weights = column(source.name + '.weights');
	return { first, ticks, weights: weights ? weights.fill(new Float64Array(nr), 0) : null };
}

/*
 * {meta, consumers, parent, consumer, n, base: [metric], samples: [source] or null}: node 0 is the invisible root,
 * the others are in preorder. Values are in the unit of their metric.
 */
export function decode(bytes) {
	const { meta, column } = openColumns(bytes);
	const nodes = meta.nr_nodes;
	const n = column('n').fill(new Float64Array(nodes), 1);
	const data = {
		meta, n,
		consumers: readConsumers(meta, column),
		parent: readShape(nodes, column('up')),
		consumer: column('consumer').fill(new Uint32Array(nodes), 1),
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
	data.samples = meta.sources.map(s => s.timed ? readSamples(s, n, column, nodes) : null);
	return data;
}

/* What the page holds as text: base64 of gzip. */
export async function unpack(base64) {
	const binary = Uint8Array.fromBase64 ? Uint8Array.fromBase64(base64) : fromBase64(base64);
	const stream = new Blob([binary]).stream().pipeThrough(new DecompressionStream('gzip'));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

function fromBase64(text) {
	const binary = atob(text), bytes = new Uint8Array(binary.length);

	for (let i = 0; i < binary.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}
