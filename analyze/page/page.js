'use strict';
(() => {
const SVG = 'http://www.w3.org/2000/svg';
const all = (what, where) => [...(where || document).querySelectorAll(what)];
const make = (tag, text, where) => {
  const x = document.createElement(tag);
  x.textContent = text;
  if (where) where.append(x);
  return x;
};

// What the page was made from, to save.
const holder = document.getElementById('data');
const data = holder ? JSON.parse(holder.textContent) : {};
const course = data.course || {series: []};
for (const link of all('a[download]')) {
  link.href = URL.createObjectURL(new Blob([holder.textContent], {type: 'application/json'}));
  link.hidden = false;
}

// What is folded opens when it is linked to, and on paper.
const unfold = () => {
  let x = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (const target = x; x; x = x.parentElement)
    if (x.tagName === 'DETAILS' && !x.open) { x.open = true; target.scrollIntoView(); }
};
addEventListener('hashchange', unfold);
unfold();
let folded = [];
addEventListener('beforeprint', () => {
  folded = all('details:not([open])');
  for (const x of folded) x.open = true;
});
addEventListener('afterprint', () => { for (const x of folded) x.open = false; });

// Tables: sorted by a column, and by what their rows say.
const UNITS = {ns: 1e-9, us: 1e-6, '\u00b5s': 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600, d: 86400, B: 1,
  K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40, P: 2 ** 50, E: 2 ** 60};
const number = text => {
  if (/^\s*(-|none|)\s*$/.test(text)) return -Infinity;
  if (/\d:\d/.test(text)) return NaN;
  let sum = NaN, rest = text.replace(/,/g, '').trim();
  for (let m; (m = /^([-+]?[\d.]+)\s*(ns|us|\u00b5s|ms|s|m|h|d|[KMGTPE]i?B|B)?/.exec(rest));) {
    sum = (sum || 0) + m[1] * (m[2] ? UNITS[m[2]] || UNITS[m[2][0]] : 1);
    rest = rest.slice(m[0].length);
  }
  return sum;
};
for (const table of all('table')) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0], rows = [...body.rows];
  if (rows.length < 2 || rows.some(r => r.cells.length !== heads.length || !r.cells[0].textContent))
    continue;
  heads.forEach((head, column) => {
    const text = head.textContent;
    if (!text || all('svg', rows[0].cells[column]).length) return;
    head.textContent = '';
    make('button', text, head).addEventListener('click', () => {
      const up = head.ariaSort === 'descending';
      const keys = new Map(rows.map(r => {
        const said = r.cells[column].textContent;
        return [r, [number(said), said]];
      }));
      for (const other of heads) other.ariaSort = null;
      head.ariaSort = up ? 'ascending' : 'descending';
      const order = (a, b) => {
        const [x, s] = keys.get(a), [y, t] = keys.get(b);
        const by = x === y || isNaN(x) || isNaN(y) ? s.localeCompare(t) : x - y;
        return up ? by : -by;
      };
      body.append(...[...rows].sort(order));
    });
  });
  if (rows.length < 20) continue;
  const filter = document.createElement('input');
  filter.type = 'search';
  filter.placeholder = 'Filter ' + rows.length + ' rows';
  filter.setAttribute('aria-label', 'Rows that hold');
  filter.addEventListener('input', () => {
    const words = filter.value.toLowerCase();
    for (const r of rows) r.hidden = !r.textContent.toLowerCase().includes(words);
  });
  table.parentElement.before(filter);
}

// Charts over time share one cursor, and say what was at that time.
const rate = (v, bytes) => {
  if (v === null) return 'not known';
  if (!bytes) return v.toPrecision(4) * 1 + ' obj/s';
  let k = 0;
  for (; v >= 1024 && k < 5; k++) v /= 1024;
  return v.toPrecision(4) * 1 + ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'][k] + '/s';
};
const time = ms => ms === null ? '-' : ms < 1 ? (ms * 1e3).toPrecision(3) * 1 + 'us'
  : ms < 1e3 ? ms.toPrecision(3) * 1 + 'ms' : (ms / 1e3).toPrecision(4) * 1 + 's';
// The area that a drawing's axes enclose: [left, top, bottom, right].
const area = svg => {
  const own = svg.dataset;
  if (own.left) return ['left', 'top', 'bottom', 'right'].map(side => +own[side]);
  const border = /^M([\d.]+),([\d.]+) L\1,([\d.]+) L([\d.]+),\3 /;
  const found = all('path', svg).map(p => border.exec(p.getAttribute('d'))).filter(m => m);
  return found.length && [+found[0][1], Math.min(...found.map(m => m[2])), Math.max(...found.map(m => m[3])), +found[0][4]];
};
const reading = make('div', '', document.body);
reading.className = 'reading';
reading.hidden = true;
// Calls `say` with how far from left to right the pointer is, and shows the words that it returns; `leave` when it is gone.
const follow = (svg, [left, top, bottom, right], say, leave) => {
  const line = document.createElementNS(SVG, 'line');
  line.setAttribute('class', 'cursor');
  line.setAttribute('y1', top);
  line.setAttribute('y2', bottom);
  svg.append(line);
  const hide = () => { reading.hidden = true; leave(); };
  svg.addEventListener('pointermove', e => {
    const box = svg.getBoundingClientRect(), width = svg.viewBox.baseVal.width;
    const part = ((e.clientX - box.left) / box.width * width - left) / (right - left);
    if (part < 0 || part > 1) return hide();
    reading.textContent = say(part).join('\n');
    reading.hidden = false;
    const room = document.documentElement.clientWidth - reading.offsetWidth - 8;
    reading.style.left = Math.max(4, Math.min(room, e.clientX + 14)) + 'px';
    reading.style.top = e.clientY + 14 + 'px';
  });
  svg.addEventListener('pointerleave', hide);
  return part => {
    line.setAttribute('x1', left + part * (right - left));
    line.setAttribute('x2', left + part * (right - left));
    line.classList.toggle('on', part >= 0 && part <= 1);
  };
};
const charts = [];
const show = ms => {
  for (const c of charts) c.move(ms === null ? -1 : (ms - c.s.start_ms) / (c.s.end_ms - c.s.start_ms));
};
const at = (s, ms) => Math.max(0, Math.min(s.throughput.length - 1, Math.floor((ms - s.start_ms) / s.bin_ms)));
const latency = (s, k) => 'median ' + time(s.p50_ms[k]) + ', p99 ' + time(s.p99_ms[k]);
const say = (s, ms) => {
  const k = at(s, ms), words = [new Date(s.start_ms + k * s.bin_ms).toISOString().slice(11, 23) + ' ' + s.op,
    rate(s.throughput[k], s.unit === 'bytes/s')];
  // Durations of different operations are no one distribution.
  if (s.p50_ms.some(v => v !== null)) words.push(latency(s, k));
  else for (const o of course.series.slice(1))
    if (s === course.series[0] && o.p50_ms.length) words.push(o.op + ' ' + latency(o, at(o, ms)));
  if (s.failed[k]) words.push(s.failed[k] + ' failed');
  if (s.in_flight[k] !== null) words.push(s.in_flight[k].toPrecision(3) * 1 + ' in flight');
  return words;
};
for (const svg of all('figure svg')) {
  const s = course.series[svg.closest('figure').dataset.series];
  if (!s || !(svg.dataset.left || all('text', svg).some(t => /^\s*(seconds|minutes|hours|days)\b/.test(t.textContent))))
    continue;
  const inside = area(svg);
  if (!inside) continue;
  charts.push({s, move: follow(svg, inside, part => {
    const ms = s.start_ms + part * (s.end_ms - s.start_ms);
    show(ms);
    return say(s, ms);
  }, () => show(null))});
}

// Percentiles: what the share of the requests under the pointer took at most.
for (const figure of all('figure[data-readings]')) {
  const {steps, right, ...lines} = JSON.parse(figure.dataset.readings), moves = [];
  const move = part => { for (const m of moves) m(part); };
  for (const svg of all('svg', figure)) {
    const inside = area(svg);
    if (!inside) continue;
    moves.push(follow(svg, inside, part => {
      const k = Math.round(part * right * steps), nines = k / steps;
      move(nines / right);
      const words = [(100 - 10 ** (2 - nines)).toFixed(Math.max(1, Math.ceil(nines) - 1)) + ' % took at most'];
      for (const [name, [ms, lo, hi]] of Object.entries(lines)) {
        const i = Math.min(k, ms.length - 1);
        words.push(name + ' ' + time(ms[i]) + (lo[i] === null ? '' : ' (95% CI ' + time(lo[i]) + ' to ' + time(hi[i]) + ')') +
          (i < k ? ', the slowest' : ''));
      }
      return words;
    }, () => move(-1)));
  }
}
})();
