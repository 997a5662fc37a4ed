'use strict';
window.addEventListener('error', e => { document.documentElement.dataset.error = e.message; });

const data = JSON.parse(document.getElementById('data').textContent);
const at = id => document.getElementById(id);
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// --- words. Text from outside goes into the page as text alone (textContent), never as markup or style. ---
function element(tag, text, cls) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (cls) e.className = cls;
  return e;
}
function scaled(value, units, step) {
  let unit = 0;
  while (unit + 1 < units.length && value >= (step === 1024 ? 1000 : step)) { value /= step; ++unit; }
  return (value >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toPrecision(3)) + ' ' + units[unit];
}
const bytesText = b => scaled(b, ['B', 'KiB', 'MiB', 'GiB', 'TiB'], 1024);
const timeText = s => s >= 1 || s === 0 ? s.toPrecision(3) + ' s' : scaled(s * 1e9, ['ns', 'µs', 'ms'], 1000);
const countText = n => n.toLocaleString('en-US');
const percent = part => (100 * part).toFixed(1) + ' %';
const className = c => c === 0 ? 'none' : data.size_classes[c] === null
  ? '> ' + bytesText(data.size_classes[c - 1]) : '≤ ' + bytesText(data.size_classes[c]);
const commName = i => data.communicators[i] && data.communicators[i].id ? data.communicators[i].name : '';

function table(target, heads, rows) {
  const head = element('tr');
  for (const h of heads) head.append(element('th', h.replace(/^#/, ''), h.startsWith('#') ? 'n' : ''));
  target.append(head);
  for (const row of rows) {
    const line = element('tr');
    row.forEach((cell, i) => line.append(cell instanceof Node ? cell : element('td', cell, heads[i].startsWith('#') ? 'n' : '')));
    target.append(line);
  }
  if (!rows.length) target.append(element('caption', 'none recorded'));
}

// --- colours: one of few for each kind of call, the same everywhere ---
const kinds = { collective: ['#7a5cc7', 'collectives'], completion: ['#d9773c', 'waits and tests'], send: ['#2f6fde', 'sends'],
  receive: ['#1e9aa8', 'receives'], exchange: ['#4b8f3a', 'sends and receives in one'], other: ['#8a93a3', 'other calls'] };
const colourOf = call => kinds[data.calls[call].kind][0];

function showHead() {
  const job = data.job;
  at('program').textContent = job.program || 'MPI job';
  const [host, ...others] = job.hosts;
  const hosts = others.length > 1 ? `${host} and ${others.length} more hosts` : job.hosts.join(' and ');
  const clocks = job.clock_error ? ` · clocks of the hosts agree within ${timeText(job.clock_error)}` : '';
  at('facts').textContent = `${countText(job.ranks)} ranks on ${hosts} · ${timeText(job.seconds)} · exit status ${job.exit_status}${clocks}`;
  const lost = data.ranks.reduce((sum, r) => sum + r.lost, 0);
  for (const [value, name] of [[percent(job.in_mpi), 'of the time in MPI'], [job.load_balance.toFixed(2), 'load balance (1: all ranks compute alike)'],
    [countText(job.calls), 'calls' + (lost ? `, ${countText(lost)} not in the timeline` : '')],
    [countText(job.messages), 'messages'], [bytesText(job.bytes), 'in messages']]) {
    const card = element('div', undefined, 'card');
    card.append(element('b', value), element('span', name));
    at('cards').append(card);
  }
  const words = at('words');
  if (data.warnings.length) {
    words.append(element('h2', 'Warnings'));
    const list = words.appendChild(element('ul', undefined, 'warning'));
    for (const w of data.warnings) list.append(element('li', w));
  }
  if (data.advice.length) {
    words.append(element('h2', 'What to try'));
    const list = words.appendChild(element('ul'));
    for (const a of data.advice) {
      const line = list.appendChild(element('li', a.finding + '. '));
      line.append(element('code', a.parameter), ': ' + a.hint);
    }
  }
}

function callRow(rank, c, state) {
  return [String(rank), c.began.toFixed(7) + ' s', state || timeText(c.seconds), data.calls[c.call].name, c.peer >= 0 ? String(c.peer) : '',
    c.bytes ? bytesText(c.bytes) : '', commName(c.comm), c.note, String(c.thread)];
}
function showUnfinished() {
  const rows = [];
  // Ranks that mpiexec ended (SIGTERM) come after those that ended by themselves.
  const stopped = r => (r.wait_status & 127) === 15;
  for (const r of data.ranks.filter(r => r.last_calls).sort((a, b) => stopped(a) - stopped(b) || a.rank - b.rank)) {
    for (const c of r.last_calls) rows.push(callRow(r.rank, c));
    for (const c of r.in_progress) rows.push(callRow(r.rank, c, 'not over'));
  }
  if (!rows.length) return;
  at('unfinished').append(element('h2', 'Last calls of the ranks that did not finalise MPI'));
  const wide = at('unfinished').appendChild(element('div', undefined, 'wide frame'));
  table(wide.appendChild(element('table')), ['#rank', '#began', '#took', 'call', '#with rank', '#bytes', 'communicator', 'by', '#thread'], rows);
}

// --- the timeline ---
const lanes = data.timeline.ranks.map(r => {
  const unit = data.timeline.unit_ns * 1e-9, began = new Float64Array(r.began.length), took = new Float64Array(r.began.length);
  let sum = 0, longest = 0;
  r.began.forEach((d, i) => { sum += d; began[i] = sum * unit; took[i] = r.took[i] * unit; longest = Math.max(longest, took[i]); });
  return { ...r, began, took, longest, lost: data.ranks.find(rank => rank.rank === r.rank).lost };
});
const start = Math.min(0, ...lanes.map(l => l.began.length ? l.began[0] : 0));
const view = { from: start, to: Math.max(data.job.seconds, 1e-9) };
const whole = { ...view };

function canvasOf(id, width, height) {
  const canvas = at(id), ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
  canvas.style.width = width + 'px'; canvas.style.height = height + 'px';
  const g = canvas.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.font = '11px system-ui, sans-serif';
  return g;
}
const left = 58, top_ = 20;
let rowHeight = 18, timelineWidth = 800;
function firstVisible(lane) {  // the first bar that may reach into the view
  let low = 0, high = lane.began.length;
  const least = view.from - lane.longest;
  while (low < high) { const mid = (low + high) >> 1; if (lane.began[mid] < least) low = mid + 1; else high = mid; }
  return low;
}
const hatch = document.createElement('canvas');
function makeHatch() {
  hatch.width = hatch.height = 8;
  const g = hatch.getContext('2d');
  g.strokeStyle = css('--soft');
  g.globalAlpha = 0.45;
  for (const x of [-8, 0, 8]) { g.beginPath(); g.moveTo(x, 8); g.lineTo(x + 8, 0); g.stroke(); }
}
function drawTimeline() {
  makeHatch();
  timelineWidth = Math.max(at('timeline').parentElement.clientWidth - 2, 300);
  rowHeight = Math.max(5, Math.min(22, Math.floor(520 / Math.max(lanes.length, 1))));
  const height = top_ + rowHeight * lanes.length + 4, g = canvasOf('timeline', timelineWidth, height);
  const scale = (timelineWidth - left) / (view.to - view.from);
  g.fillStyle = css('--soft');
  const wanted = (view.to - view.from) / 8, power = 10 ** Math.floor(Math.log10(wanted));
  const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= wanted);
  for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
    const x = left + (t - view.from) * scale;
    g.fillRect(x, top_ - 4, 1, height);
    g.fillText(timeText(Math.abs(t) < step / 2 ? 0 : +t.toPrecision(6)), x + 3, 12);
  }
  const every = Math.ceil(12 / rowHeight);
  lanes.forEach((lane, row) => {
    const y = top_ + row * rowHeight;
    g.fillStyle = css('--paper');
    g.fillRect(left, y, timelineWidth - left, rowHeight - 1);
    g.fillStyle = css('--soft');
    if (row % every === 0) g.fillText('rank ' + lane.rank, 2, y + Math.min(rowHeight, 14) - 2);
    if (lane.lost && lane.began.length && lane.began[0] > view.from) {  // the ring kept the newest calls alone
      const x = Math.max(left, left + (start - view.from) * scale), end = Math.min(timelineWidth, left + (lane.began[0] - view.from) * scale);
      g.fillStyle = g.createPattern(hatch, 'repeat');
      g.fillRect(x, y, end - x, rowHeight - 1);
    }
    let painted = -1, colour = '';
    for (let i = firstVisible(lane); i < lane.began.length && lane.began[i] < view.to; ++i) {
      const x = Math.max(left, left + (lane.began[i] - view.from) * scale);
      const end = left + (lane.began[i] + lane.took[i] - view.from) * scale;
      if (end < left || (end <= painted && colour === colourOf(lane.call[i]))) continue;  // behind what is drawn
      g.globalAlpha = lane.calls && lane.calls[i] > 1 ? Math.max(0.25, Math.min(1, lane.in_mpi[i] / Math.max(lane.took[i] / (data.timeline.unit_ns * 1e-9), 1))) : 1;
      g.fillStyle = colour = colourOf(lane.call[i]);
      const width = Math.max(0.75, end - x);
      g.fillRect(x, y, width, Math.max(rowHeight - 1, 2));
      painted = x + width;
    }
    g.globalAlpha = 1;
  });
}
function barAt(x, y) {
  const lane = lanes[Math.floor((y - top_) / rowHeight)];
  if (!lane || x < left) return null;
  const time = view.from + (x - left) / (timelineWidth - left) * (view.to - view.from);
  const near = 2 / (timelineWidth - left) * (view.to - view.from);
  for (let i = firstVisible(lane), best = null; ; ++i) {
    if (i >= lane.began.length || lane.began[i] > time + near) return { lane, i: best, time };
    if (lane.began[i] + lane.took[i] >= time - near) best = i;
  }
}
function tellBar(x, y) {
  const found = barAt(x, y);
  if (!found) { at('timeline-readout').textContent = '\u00a0'; return; }
  const { lane, i, time } = found;
  let text = `rank ${lane.rank} at ${timeText(time)}`;
  if (i === null) text += lane.lost && time < lane.began[0] ? ': calls that are not kept' : ': computes';
  else {
    const many = lane.calls && lane.calls[i] > 1;
    text += `: ${many ? `${countText(lane.calls[i])} short calls, most time in ` : ''}${data.calls[lane.call[i]].name}, ${timeText(lane.took[i])}`;
    if (lane.peer[i] >= 0) text += `, with rank ${lane.peer[i]}`;
    if (lane.bytes[i]) text += `, ${bytesText(lane.bytes[i])}`;
    if (commName(lane.comm[i])) text += `, on ${commName(lane.comm[i])}`;
    if (lane.note && lane.note[i]) text += `: ${data.timeline.notes[lane.note[i]]}`;
  }
  at('timeline-readout').textContent = text;
}
function zoom(factor, middle) {
  const length = Math.min((view.to - view.from) * factor, whole.to - whole.from);
  const part = (middle - view.from) / (view.to - view.from);
  moveTo(middle - part * length, Math.max(length, 1e-9));
}
function moveTo(from, length) {
  view.from = Math.max(whole.from, Math.min(from, whole.to - length));
  view.to = view.from + length;
  drawTimeline();
}
function showTimeline() {
  const t = data.timeline, canvas = at('timeline');
  const notes = ['Drag to move, scroll to zoom, double-click for all; with the keyboard: arrows, + and −, 0.'];
  if (t.interval_ns > 0) notes.push(`Calls shorter than ${timeText(t.interval_ns * 1e-9)} are joined: a bar of several is paler where the rank computed in between.`);
  if (!t.all_ranks) notes.push(`${lanes.length} of ${countText(data.ranks.length)} ranks: those that ended otherwise, those that compute longest and shortest, and others evenly spaced.`);
  at('timeline-note').textContent = notes.join(' ');
  const used = new Set(lanes.flatMap(l => [...new Set(l.call)]).map(c => data.calls[c].kind));
  for (const [kind, [colour, name]] of Object.entries(kinds)) {
    if (!used.has(kind)) continue;
    const entry = element('span'), mark = element('i');
    mark.style.background = colour;
    entry.append(mark, name);
    at('legend').append(entry);
  }
  at('legend').append(element('span', 'empty: the rank computes' + (lanes.some(l => l.lost) ? '; hatched: its calls were overwritten by later ones' : '')));
  const timeAt = e => view.from + (e.offsetX - left) / (timelineWidth - left) * (view.to - view.from);
  let drag = null;
  canvas.addEventListener('wheel', e => { if (e.ctrlKey || !e.shiftKey) { e.preventDefault(); zoom(e.deltaY > 0 ? 1.25 : 0.8, timeAt(e)); } }, { passive: false });
  canvas.addEventListener('pointerdown', e => { drag = { x: e.offsetX, from: view.from }; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener('pointerup', () => { drag = null; });
  canvas.addEventListener('pointermove', e => {
    if (drag) moveTo(drag.from - (e.offsetX - drag.x) / (timelineWidth - left) * (view.to - view.from), view.to - view.from);
    else tellBar(e.offsetX, e.offsetY);
  });
  canvas.addEventListener('dblclick', () => moveTo(whole.from, whole.to - whole.from));
  canvas.addEventListener('keydown', e => {
    const length = view.to - view.from, middle = view.from + length / 2;
    const keys = { ArrowLeft: () => moveTo(view.from - length / 5, length), ArrowRight: () => moveTo(view.from + length / 5, length),
      '+': () => zoom(0.7, middle), '=': () => zoom(0.7, middle), '-': () => zoom(1.4, middle), 0: () => moveTo(whole.from, whole.to - whole.from) };
    if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
  });
  drawTimeline();
}

// --- the matrix ---
const side = data.matrix.side, perCell = data.matrix.ranks_per_cell;
const group = i => perCell === 1 ? `rank ${i}` : `ranks ${i * perCell}–${Math.min((i + 1) * perCell, data.job.ranks) - 1}`;
const cellAt = new Map(data.matrix.cells.map(c => [c[0] * side + c[1], c]));
let cellSize = 10;
function drawMatrix() {
  const measure = +document.querySelector('input[name=measure]:checked').value;
  const room = Math.min(at('matrix').parentElement.clientWidth - 60, 480);
  cellSize = Math.min(Math.max(room / side, 1), 40);
  const g = canvasOf('matrix', cellSize * side + 46, cellSize * side + 24);
  const most = Math.max(1, ...data.matrix.cells.map(c => c[measure]));
  g.fillStyle = css('--ground');
  g.fillRect(44, 18, cellSize * side, cellSize * side);
  const gap = cellSize > 6 ? 1 : 0;
  for (const c of data.matrix.cells) {
    const part = c[measure] > 0 ? Math.log(c[measure] + 1) / Math.log(most + 1) : 0;
    g.fillStyle = `hsl(${215 - 15 * part} ${45 + 40 * part}% ${88 - 55 * part}%)`;
    g.fillRect(44 + c[1] * cellSize, 18 + c[0] * cellSize, Math.max(cellSize - gap, 0.8), Math.max(cellSize - gap, 0.8));
  }
  g.fillStyle = css('--soft');
  const every = Math.max(1, Math.ceil(26 / cellSize));
  for (let i = 0; i < side; i += every) {
    g.fillText(String(i * perCell), 44 + i * cellSize + 1, 12);
    g.fillText(String(i * perCell), 4, 18 + i * cellSize + Math.min(cellSize, 12));
  }
}
function showMatrix() {
  at('matrix-note').textContent = 'Down: who sends; across: to whom. Point-to-point messages of the program, by their calls; darker is more (logarithmic).' +
    (perCell > 1 ? ` A cell stands for ${perCell} × ${perCell} ranks.` : '');
  document.querySelectorAll('input[name=measure]').forEach(i => i.addEventListener('change', drawMatrix));
  at('matrix').addEventListener('pointermove', e => {
    const from = Math.floor((e.offsetY - 18) / cellSize), to = Math.floor((e.offsetX - 44) / cellSize);
    if (from < 0 || to < 0 || from >= side || to >= side) { at('matrix-readout').textContent = '\u00a0'; return; }
    const c = cellAt.get(from * side + to) || [from, to, 0, 0];
    at('matrix-readout').textContent = `${group(from)} to ${group(to)}: ${countText(c[2])} messages, ${bytesText(c[3])}`;
  });
  drawMatrix();
  if (side > 16 || !data.matrix.cells.length) return;
  const details = at('matrix-table').appendChild(element('details'));
  details.append(element('summary', 'The same in numbers: messages, bytes'));
  const rows = [...Array(side).keys()].map(from => [group(from), ...[...Array(side).keys()].map(to => {
    const c = cellAt.get(from * side + to);
    return c ? `${countText(c[2])}, ${countText(c[3])}` : '–';
  })]);
  const wide = details.appendChild(element('div', undefined, 'wide'));
  table(wide.appendChild(element('table')), ['from \\ to', ...[...Array(side).keys()].map(i => '#' + group(i))], rows);
}

function showRanks() {
  const most = Math.max(1e-12, ...data.ranks.map(r => r.seconds)), mean = data.ranks.reduce((s, r) => s + r.computing, 0) / Math.max(data.ranks.length, 1);
  const slow = r => data.ranks.length > 1 && r.computing > 1.1 * mean && r.computing - mean > 0.01 * r.seconds;
  const shown = new Set(lanes.map(l => l.rank));
  at('ranks-note').textContent = 'Green: computing; orange: in MPI. Stragglers, which compute more than 10 % longer than the mean, are named in red.';
  for (const r of data.ranks.filter(r => shown.has(r.rank))) {
    const line = element('div', undefined, 'bar'), bar = element('div');
    line.append(element('span', 'rank ' + r.rank, slow(r) ? 'slow' : ''), bar,
      element('span', r.finalized ? `${timeText(r.computing)} · ${r.memory ? bytesText(r.memory) : ''}` : 'did not finalise MPI'));
    for (const [seconds, colour] of [[r.computing, 'var(--work)'], [r.in_mpi, 'var(--mpi)']]) {
      const part = element('i');
      part.style.width = 100 * seconds / most + '%';
      part.style.background = colour;
      bar.append(part);
    }
    line.title = `rank ${r.rank} on ${r.host}: ${timeText(r.computing)} computing, ${timeText(r.in_mpi)} in MPI, ${countText(r.calls)} calls, ${countText(r.messages)} messages with ${bytesText(r.bytes)}, ${r.threads} thread(s)`;
    at('ranks').append(line);
  }
}

function showCalls() {
  const classes = [...new Set(data.totals.flatMap(t => t.sizes.map(s => s.class)))].sort((a, b) => a - b);
  const rows = data.totals.map(t => {
    const bytes = Math.max(t.bytes_out, t.bytes_in);
    const row = [data.calls[t.call].name, countText(t.calls), t.room ? '–' : bytesText(bytes), timeText(t.of_ranks.mean), timeText(t.of_ranks.least),
      `${timeText(t.of_ranks.most)} (rank ${t.of_ranks.most_rank})`, timeText(t.longest)];
    for (const c of classes) {
      const s = t.sizes.find(size => size.class === c), cell = element('td', s ? countText(s.calls) : '', 'n size');
      if (s) {
        cell.style.background = `color-mix(in srgb, ${colourOf(t.call)} ${Math.round(70 * s.seconds / Math.max(t.seconds, 1e-12))}%, transparent)`;
        cell.title = `${countText(s.calls)} calls, ${bytesText(s.bytes)}, ${timeText(s.seconds)}`;
      }
      row.push(cell);
    }
    return row;
  });
  table(at('calls'), ['call', '#calls', '#bytes', '#mean time', '#least', '#most', '#longest call', ...classes.map(c => '#' + className(c))], rows);
}

showHead();
showUnfinished();
showTimeline();
showMatrix();
showRanks();
showCalls();
table(at('transports'), ['transport', '#messages', '#bytes'], data.transports.map(t => [t.name, countText(t.messages), bytesText(t.bytes)]));
table(at('protocols'), ['messages by rendezvous', '#messages', '#bytes'], data.protocols.map(p => [p.name, countText(p.messages), bytesText(p.bytes)]));
table(at('algorithms'), ['collective.algorithm', '#times'], data.algorithms.sort((a, b) => b.calls - a.calls).map(a => [a.name, countText(a.calls)]));
table(at('communicators'), ['name', '#ranks', '#id'], data.communicators.filter(c => c.id).map(c => [c.name, countText(c.size), String(c.id)]));
table(at('decisions'), ['topic', 'of', 'chosen', 'because', 'not taken', 'setting'], data.decisions.map(d => [d.topic, d.subject, d.chosen, d.because, d.lost, d.setting]));
table(at('variables'), ['variable', '#sum'], Object.entries(data.variables).map(([name, value]) => [name, countText(value)]));
window.addEventListener('resize', () => { drawTimeline(); drawMatrix(); });
document.documentElement.dataset.ready = 'yes';
