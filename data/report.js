/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page's tools: elements, numbers, tables, sections.  What a capture says (labels, keys, error texts) is hostile:
 * it reaches the page as text nodes and attributes only, never as markup.
 */
'use strict';
/* Characters that turn the direction of text around are shown as what they are. */
const visible = v => v.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
const data = JSON.parse(document.getElementById('data').textContent, (key, v) => typeof v === 'string' ? visible(v) : v);
const main = document.getElementById('main');
const two = data.arms.length > 1 ? ' two' : '';
/* All pictures: { id, open(), redraw(), resize(), drawn() }; drawn() tells tests how much of it is there. */
const charts = [];

/* ---- elements ---- */

function el(name, attrs, ...children) {
	const e = document.createElement(name);
	for (const [k, v] of Object.entries(attrs || {})) {
		if (k === 'class') e.className = v;
		else if (k === 'style') Object.assign(e.style, v);
		else e.setAttribute(k, v);
	}
	for (const c of children.flat(Infinity))
		if (c !== null && c !== undefined && c !== '' && c !== false) e.append(c);
	return e;
}
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const rgb = color => color.match(/[0-9a-f]{2}/gi).map(x => parseInt(x, 16)); /* of #rrggbb */
const share = (part, all) => ({ width: 100 * part / all + '%' });

/* ---- numbers ---- */

const thousands = v => Math.round(v).toLocaleString('en');

/* Three significant figures and a unit, as `kvio report` prints them. */
function figures(v, units, step) {
	let i = 0;
	while (i < units.length - 1 && Math.abs(v) >= step * 0.9995) {
		v /= step;
		i++;
	}
	const a = Math.abs(v), digits = a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2;
	const text = a >= 1000 || (i === 0 && Number.isInteger(v)) ? thousands(v) : v.toFixed(digits);
	return text + '\u00a0' + units[i];
}
const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

function ns(v) {
	return Math.abs(v) >= 120e9 ? thousands(v / 1e9) + '\u00a0s' : figures(v, ['ns', 'us', 'ms', 's'], 1000);
}

/* How a number of each kind is printed. */
const show = {
	text: v => v,
	n: thousands,
	lost: thousands,
	ns,
	bytes: v => figures(v, byteUnits, 1024),
	rate: v => figures(v, ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s'], 1000),
	share: v => (100 * v).toFixed(1) + '\u00a0%',
	change: v => (v > 0 ? '+' : '') + (100 * v).toFixed(1) + '\u00a0%',
	x: v => v.toFixed(2),
	ratio: v => v >= 999.5 ? thousands(v) : v.toPrecision(3),
};
const put = (v, kind) => v === null || v === undefined ? '-' : show[kind](v);
const number = (v, kind) => el('b', { class: 'num' }, put(v, kind));

/* In a sentence a number stays with its unit. */
const glue = t => t.replace(/(\d) (?=(?:[num]?s|%|B|[KMGT]iB|[kMG]?B\/s)(?!\w))/g, '$1\u00a0');
/* "1.00 ms" as a tick is "1 ms". */
const trim = t => t.replace(/\.0+(?=\u00a0)/, '').replace(/(\.\d*[1-9])0+(?=\u00a0)/, '$1');

/* The unit that a time axis of this length is labelled in. */
function timeUnit(span) {
	const [per, unit] = span >= 2e9 ? [1e9, 's'] : span >= 2e6 ? [1e6, 'ms'] : span >= 2e3 ? [1e3, 'us'] : [1, 'ns'];
	return { unit, text: v => String(+(v / per).toPrecision(6)) };
}

/* Bytes on an axis whose ticks are a step apart, in a unit that tells them from one another. */
function bytesTick(v, step) {
	const i = Math.max(0, Math.min(Math.floor(Math.log2(step * 4) / 10), byteUnits.length - 1));
	return (v / Math.pow(1024, i)).toLocaleString('en', { maximumFractionDigits: 2 }) + '\u00a0' + byteUnits[i];
}

/* About n round ticks in lo..hi; kind 'whole': no fractions, 'bytes': powers of two are round. */
function ticks(lo, hi, n, kind) {
	const raw = (hi - lo) / Math.max(n, 1), mag = Math.pow(10, Math.floor(Math.log10(raw))), out = [];
	let step = mag * (kind === 'whole' ? [1, 2, 5, 10] : [1, 2, 2.5, 5, 10]).find(s => s * mag >= raw * 0.999);
	if (kind === 'whole') step = Math.max(step, 1);
	if (kind === 'bytes') step = Math.pow(2, Math.ceil(Math.log2(raw)));
	if (!(step > 0) || !isFinite(step)) return [lo];
	for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + step * 1e-9; k++) out.push(k * step + 0);
	return out;
}

/* Ticks of a logarithmic axis: decades, with more between them where there is room. */
function logTicks(lo, hi, n) {
	const decades = Math.log10(hi / lo), out = [];
	const at = decades * 3 <= n ? [1, 2, 5] : decades * 2 <= n ? [1, 3] : [1];
	for (let d = Math.floor(Math.log10(lo)); d <= Math.ceil(Math.log10(hi)); d++)
		for (const s of at) {
			const v = s * Math.pow(10, d);
			if (v >= lo * 0.999 && v <= hi * 1.001) out.push(v);
		}
	return out;
}

/* ---- parts of the page ---- */

/*
 * { caption, cols: [[title, kind]...], rows }.  A cell is a value of its column's kind, or of its row's when t.kinds
 * has one, or [value, kind].  `summary`: behind a line of this text that opens it.
 */
function table(t, summary) {
	const head = t.cols.map(([title, kind]) => el('th', { scope: 'col', class: kind === 'text' ? 'text' : '' }, title));
	const rows = t.rows.map((r, k) => el('tr', {}, r.map((cell, i) => {
		const [v, kind] = Array.isArray(cell) ? cell : [cell, t.kinds && i > 0 ? t.kinds[k] : t.cols[i][1]];
		return el('td', { class: kind === 'text' ? 'text' : kind === 'lost' && v > 0 ? 'lost' : 'num' }, put(v, kind));
	})));
	const out = el('div', { class: 'wide', role: 'region', 'aria-label': t.caption },
		el('table', {}, el('caption', {}, t.caption), el('thead', {}, el('tr', {}, head)), el('tbody', {}, rows)));
	return summary ? el('details', {}, el('summary', {}, summary), out) : out;
}
const NUMBERS = 'The numbers behind this picture';

function section(id, nav, title, text, ...children) {
	const s = el('section', { id }, el('header', {}, el('h2', {}, title), el('p', {}, text)), children);
	main.append(s);
	document.getElementById('nav').append(el('a', { href: '#' + id }, nav));
	return s;
}

/* With several captures each has a letter. */
const letter = i => 'ABCD'[i];
const badge = i => two && el('span', { class: 'badge' }, letter(i));
const titled = (a, i) => (two ? letter(i) + ' ' : '') + a.label;

/* What draw(arm, i) makes of each capture, side by side. */
function panels(draw) {
	return el('div', { class: 'arms' + two }, data.arms.map((a, i) =>
		el('div', { class: 'panel' }, two && el('div', { class: 'name' }, badge(i), el('span', {}, a.label)), draw(a, i))));
}
const none = why => el('p', { class: 'none' }, why);

/* Items [class, text, value] */
const legend = items => el('div', { class: 'legend' }, items.filter(Boolean).map(([cls, text, value]) =>
	el('span', {}, el('i', { class: cls }), text, value && [' ', el('b', { class: 'num' }, value)])));

/* A bar of parts: values in the classes and with the names of kinds [[class, name]...]. */
const stacked = (values, kinds, all) => el('div', { class: 'bar' }, values.map((v, k) => v > 0 &&
	el('i', { class: kinds[k][0], style: share(v, all), title: `${kinds[k][1]}: ${ns(v)}` })));

/* A picture made of elements: it needs no drawing, and what is there are its bars. */
function bars(id, box) {
	const wide = b => b.getBoundingClientRect().width > 0;
	charts.push({ id, open() {}, redraw() {}, resize() {}, drawn: () => [...box.querySelectorAll('i')].filter(wide).length });
	return box;
}

/* How many pixels of a canvas have one of these colors, so not those of its grid. */
function pixels(canvas, colors) {
	if (!canvas || !canvas.width || !canvas.height) return 0;
	const p = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data, want = colors.map(rgb);
	let n = 0;
	for (let i = 0; i < p.length; i += 4)
		n += p[i + 3] > 0 && want.some(c => c.every((v, k) => Math.abs(v - p[i + k]) < 12));
	return n;
}

/* The directions of commands, as the data numbers them. */
const dirName = ['reads', 'writes', 'other'];
const dirVar = ['--read', '--write', '--other'];
const dirClass = ['c-read', 'c-write', 'c-other'];
