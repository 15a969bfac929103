// SPDX-License-Identifier: GPL-2.0-or-later
// picture.mjs - graphs as a picture to save: what is shown, below a title and what its colours mean.
import { colours, MOST_HIGH, prepare } from './boxes.mjs';
import { escapeMarkup, fontOf, SIZE, widthsOf } from './text.mjs';

const TITLE_SIZE = 15, PAD_HEAD = 4, HEAD_LINE = 18, SWATCH = 14;

/* Where title, note and legend stand: {items: [{x, y, text, colour, size}], top: what is below them}. */
function placeHead({ title, note, legend }, width) {
	const items = [], widths = widthsOf(SIZE), room = width - 2 * PAD_HEAD;
	let x = PAD_HEAD, y = 12;

	items.push({ x, y, text: widthsOf(TITLE_SIZE).cut(title, room), size: TITLE_SIZE });
	items.push({ x, y: y += 20, text: widths.cut(note, room), size: SIZE });
	y += HEAD_LINE;
	for (const { colour, text } of legend) {
		const wide = SWATCH + widths.of(text) + SWATCH;
		if (x > PAD_HEAD && x + wide > width) {
			x = PAD_HEAD;
			y += HEAD_LINE;
		}
		items.push({ x, y, text, colour, size: SIZE });
		x += wide;
	}
	return { items, top: y + HEAD_LINE / 2 + 4 };
}

/* parts: [[part {width, height, svg(palette, x, y): texts, draw(context, palette)}, x, y]]. */
function extentOf(parts) {
	return { width: Math.max(...parts.map(([part, x]) => x + part.width)), high: Math.max(...parts.map(([part, , y]) => y + part.height)) };
}

/* head: {title, note, legend: [{colour, text}]}. */
export function svgOf(parts, head) {
	const { width, high } = extentOf(parts), palette = colours(document.body), { items, top } = placeHead(head, width);
	const out = [`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top + high}" ` +
		`font-family="sans-serif" font-size="${SIZE}"><rect width="100%" height="100%" fill="${palette.ground}"/>`];

	for (const { x, y, text, colour, size } of items)
		out.push((colour ? `<rect x="${x}" y="${y - 5}" width="10" height="10" fill="${palette[colour]}"/>` : '') +
			`<text x="${colour ? x + SWATCH : x}" y="${y + 4}" font-size="${size}" fill="${palette.text}">${escapeMarkup(text)}</text>`);
	for (const [part, x, y] of parts)
		for (const text of part.svg(palette, x, top + y))
			out.push(text);
	return out.join('\n') + '\n</svg>\n';
}

/* The same as a PNG: a promise of it; what is higher than a canvas can be is cut. */
export function pngOf(parts, head) {
	const { width, high } = extentOf(parts), palette = colours(document.body), { items, top } = placeHead(head, width);
	const canvas = document.createElement('canvas'), context = canvas.getContext('2d'), height = Math.min(top + high, MOST_HIGH);

	prepare(canvas, context, width, height);
	context.fillStyle = palette.ground;
	context.fillRect(0, 0, width, height);
	context.textBaseline = 'middle';
	for (const { x, y, text, colour, size } of items) {
		context.fillStyle = palette[colour || 'text'];
		if (colour)
			context.fillRect(x, y - 5, 10, 10);
		context.fillStyle = palette.text;
		context.font = fontOf(size);
		context.fillText(text, colour ? x + SWATCH : x, y);
	}
	for (const [part, x, y] of parts) {
		context.save();
		context.translate(x, top + y);
		part.draw(context, palette);
		context.restore();
	}
	return new Promise(done => canvas.toBlob(done, 'image/png'));
}
