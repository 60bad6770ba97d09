"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = id => document.getElementById(id);
  // Each slice is `WIDE` numbers: start, end, kind, name, line, facts, whether it is on the path.
  const WIDE = 7, WORK = 0, SYNC = 1, STALL = 2;
  const tracks = data.tracks.map(([group, name, slices]) => ({ group, name, slices, count: slices.length / WIDE }));
  const total = Math.max(1, data.cycles);
  const root = document.documentElement;

  // Light or dark.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = on => { root.classList.toggle("dark", on); draw(); };
  byId("theme").onclick = () => theme(!root.classList.contains("dark"));
  dark.addEventListener("change", event => theme(event.matches));

  // The timeline.
  const canvas = byId("timeline"), tip = byId("tip"), context = canvas.getContext("2d");
  const ROW = 20, GROUP = 18, AXIS = 22, AREA = 34, FONT = "11px system-ui, sans-serif";
  let LEFT = 130, rows = [], trackRows = [], height = AXIS, view = [0, total], chosen = null, marked = null, found = [], at = -1, cursor = 0, line = 0;
  // Quantities of several clusters are folded until somebody asks for them.
  const folds = [...new Set(data.counters.map(counter => counter.group))], folded = new Set(folds.length > 1 ? folds : []);
  const most = data.counters.map(counter => { let top = 1; for (let i = 1; i < counter.samples.length; i += 2) top = Math.max(top, counter.samples[i]); return top; });
  // What is counted, and below it how and how much at most.
  const twoLines = index => { const [name, ...how] = data.counters[index].name.split(": "); return [name, [...how, "most " + most[index]].join(", ")]; };
  function layout() {
    rows = []; height = AXIS; let group = null;
    tracks.forEach((track, index) => {
      if (track.group !== group) { rows.push({ group: track.group, top: height }); height += GROUP; group = track.group; }
      rows.push({ track: index, labels: [track.name], top: height }); height += ROW;
    });
    for (const fold of folds) {
      const own = data.counters.map((counter, index) => ({ counter: index, labels: twoLines(index), group: counter.group })).filter(row => row.group === fold), shut = folded.has(fold);
      rows.push({ group: `${shut ? "▸" : "▾"} ${fold ? fold + " " : ""}over time${shut ? ` (${own.length})` : ""}`, fold, top: height }); height += GROUP;
      if (!shut) for (const { counter, labels } of own) { rows.push({ counter, labels, top: height }); height += AREA; }
    }
    trackRows = rows.filter(row => row.track !== undefined); names = 0;
  }
  function foldAll() { const shut = folded.size < folds.length; folded.clear(); if (shut) folds.forEach(fold => folded.add(fold)); layout(); draw(); }
  // Words as wide as there is room for them; what was left out is under the pointer.
  let names = 0, cut = [];
  function fitted(text, room) {
    if (context.measureText(text).width <= room) return text;
    let keep = text.length - 1; while (keep > 1 && context.measureText(text.slice(0, keep) + "…").width > room) keep--;
    return keep > 1 ? text.slice(0, keep) + "…" : "";
  }
  layout();
  const start = (track, i) => track.slices[i * WIDE], end = (track, i) => track.slices[i * WIDE + 1];
  // The first slice that ends behind a cycle. Slices inside of others end no later than these.
  const first = (track, cycle) => { let a = 0, b = track.count; while (a < b) { const m = (a + b) >> 1; if (start(track, m) < cycle) a = m + 1; else b = m; } while (a > 0 && (end(track, a - 1) > cycle || (a > 1 && end(track, a - 2) > cycle))) a--; return a; };
  let plotted = 1;
  const plot = () => plotted;
  const x = cycle => LEFT + (cycle - view[0]) / (view[1] - view[0]) * plot();
  const cycleAt = px => view[0] + (px - LEFT) / plot() * (view[1] - view[0]);
  const colour = name => getComputedStyle(root).getPropertyValue(name).trim();
  let hatch = null, palette = {};
  function paints() {
    for (const name of ["back", "text", "faint", "line", "panel", "work", "stall", "sync", "path", "mark"]) palette[name] = colour("--" + name);
    const tile = document.createElement("canvas"); tile.width = tile.height = 6;
    const c = tile.getContext("2d"); c.fillStyle = palette.back; c.fillRect(0, 0, 6, 6); c.strokeStyle = palette.stall; c.lineWidth = 2;
    c.beginPath(); c.moveTo(-1, 7); c.lineTo(7, -1); c.stroke(); hatch = context.createPattern(tile, "repeat");
  }
  // Lines are counted in the text on this page; their labels are those of the files.
  const named = row => row ? data.labels[row - 1] : 0;
  const matches = (track, i) => { const s = track.slices, b = i * WIDE; return (data.names[s[b + 3]] + " " + data.facts[s[b + 5]] + " line:" + named(s[b + 4]) + " ").toLowerCase().includes(marked); };
  function draw() {
    const ratio = devicePixelRatio || 1, wide = canvas.clientWidth;
    if (!names) { context.setTransform(1, 0, 0, 1, 0, 0); context.font = FONT; names = 24 + Math.max(0, ...rows.flatMap(row => (row.labels || []).map(label => context.measureText(label).width))); }
    LEFT = Math.round(Math.min(Math.max(names, 60), wide * .45)); plotted = Math.max(1, wide - LEFT - 8); cut = [];
    canvas.style.height = height + "px"; canvas.width = wide * ratio; canvas.height = height * ratio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0); paints();
    const c = context; c.fillStyle = palette.back; c.fillRect(0, 0, wide, height); c.font = FONT; c.textBaseline = "middle";
    // Cycles along the top.
    const span = view[1] - view[0]; const ticks = Math.max(1, Math.min(10, Math.floor(plotted / (context.measureText(String(total)).width + 16))));
    let step = Math.pow(10, Math.floor(Math.log10(span / ticks))); for (const m of [1, 2, 5, 10]) if (span / (step * m) <= ticks) { step *= m; break; }
    step = Math.max(1, step); c.fillStyle = palette.faint; c.strokeStyle = palette.line; c.lineWidth = 1;
    for (let t = Math.ceil(view[0] / step) * step; t <= view[1]; t += step) { const px = Math.round(x(t)) + .5; c.beginPath(); c.moveTo(px, 12); c.lineTo(px, height); c.stroke(); if (px + 2 + c.measureText(String(t)).width <= wide) c.fillText(String(t), px + 2, 7); }
    const path = byId("show-path").checked;
    for (const row of rows) {
      if (row.group !== undefined && row.track === undefined) { c.fillStyle = palette.panel; c.fillRect(0, row.top, wide, GROUP); c.fillStyle = palette.text; c.font = "bold " + FONT; c.fillText(fitted(row.group, wide - 8), 4, row.top + GROUP / 2); c.font = FONT; continue; }
      if (row.counter !== undefined) { area(row); continue; }
      const track = tracks[row.track], top = row.top;
      c.fillStyle = palette.text; label(track.name, 20, top + ROW / 2); if (trackRows[cursor] === row) c.fillText("▸", 8, top + ROW / 2);
      let last = [-1, -1, -1];
      for (let i = first(track, view[0]); i < track.count && start(track, i) < view[1]; i++) {
        const b = i * WIDE, s = track.slices, kind = s[b + 2];
        const from = Math.max(LEFT, x(s[b])), to = Math.min(wide - 8, x(s[b + 1])), width = Math.max(1, to - from);
        const special = chosen && chosen[0] === row.track && chosen[1] === i;
        // Of slices narrower than a pixel one is drawn.
        if (!special && width <= 1 && Math.floor(from) === last[kind] && !(path && s[b + 6])) continue;
        last[kind] = Math.floor(from);
        const faded = (marked && !matches(track, i)) || (line && s[b + 4] !== line);
        c.globalAlpha = faded ? .2 : 1;
        const inset = kind === SYNC ? 6 : 3;
        c.fillStyle = kind === STALL ? hatch : kind === SYNC ? palette.sync : palette.work;
        c.fillRect(from, top + inset, width, ROW - 2 * inset);
        if (width > 3 && kind !== SYNC) { c.strokeStyle = palette.text; c.lineWidth = .5; c.strokeRect(from + .25, top + inset + .25, width - .5, ROW - 2 * inset - .5); }
        if (path && s[b + 6]) { c.fillStyle = palette.path; c.fillRect(from, top, width, 3); }
        if (width > 36) {
          c.save(); c.beginPath(); c.rect(from, top, width - 2, ROW); c.clip();
          c.fillStyle = kind === WORK ? "#fff" : palette.text; if (kind === WORK && root.classList.contains("dark")) c.fillStyle = "#000";
          const words = fitted(data.names[s[b + 3]], width - 8);
          // Words over hatching have the page's ground behind them.
          if (kind === STALL && words) { c.fillStyle = palette.back; c.fillRect(from + 1, top + 4, c.measureText(words).width + 4, ROW - 8); c.fillStyle = palette.text; }
          c.fillText(words, from + 3, top + ROW / 2 + 1); c.restore();
        }
        if (special) { c.globalAlpha = 1; c.strokeStyle = palette.text; c.lineWidth = 2; c.strokeRect(from - 1, top + 1, width + 2, ROW - 2); }
      }
      c.globalAlpha = 1;
    }
    if (chosen) arrows();
    byId("range").textContent = `${Math.round(view[0])} to ${Math.round(view[1])} of ${total}`;
  }
  function label(text, from, y) { const shown = fitted(text, LEFT - from - 4); if (shown !== text) cut.push(text); context.fillText(shown, from, y); }
  function area(row) {
    const counter = data.counters[row.counter], s = counter.samples, top = row.top + 4, tall = AREA - 8, c = context;
    const y = value => top + tall - value / most[row.counter] * tall;
    c.fillStyle = palette.text; label(row.labels[0], 4, row.top + 10); c.fillStyle = palette.faint; label(row.labels[1], 4, row.top + 24);
    c.save(); c.beginPath(); c.rect(LEFT, row.top, plot(), AREA); c.clip(); c.beginPath(); c.moveTo(x(0), y(0)); let value = 0, last = x(0), peak = 0;
    // Of samples in one pixel the highest and the last one are drawn.
    for (let i = 0; i < s.length; i += 2) {
      const px = x(s[i]);
      if (px - last >= 1) { c.lineTo(last, y(peak)); c.lineTo(last, y(value)); c.lineTo(px, y(value)); last = px; peak = 0; }
      value = s[i + 1]; peak = Math.max(peak, value);
    }
    c.lineTo(last, y(peak)); c.lineTo(last, y(value)); c.lineTo(x(total), y(value)); c.lineTo(x(total), y(0)); c.closePath(); c.globalAlpha = .4; c.fillStyle = palette.work; c.fill(); c.globalAlpha = 1; c.strokeStyle = palette.work; c.lineWidth = 1; c.stroke(); c.restore();
  }
  // Arrows of a slice: pairs of track and slice.
  const flows = new Map(), key = (track, slice) => track * 0x4000000 + slice;
  data.flows.forEach(flow => { for (const k of [key(flow[0], flow[1]), key(flow[2], flow[3])]) { if (!flows.has(k)) flows.set(k, []); flows.get(k).push(flow); } });
  function arrows() {
    const c = context; c.strokeStyle = c.fillStyle = palette.text; c.lineWidth = 1.5;
    for (const [t1, s1, t2, s2, what] of flows.get(key(chosen[0], chosen[1])) || []) {
      const from = [x(start(tracks[t1], s1)), rows.find(row => row.track === t1).top + ROW / 2], to = [x(start(tracks[t2], s2)), rows.find(row => row.track === t2).top + ROW / 2];
      c.beginPath(); c.moveTo(...from); c.bezierCurveTo(from[0] + 20, from[1], to[0] - 20, to[1], ...to); c.stroke();
      c.beginPath(); c.moveTo(...to); c.lineTo(to[0] - 6, to[1] - 4); c.lineTo(to[0] - 6, to[1] + 4); c.fill();
      c.fillText(data.whats[what], (from[0] + to[0]) / 2 + 4, (from[1] + to[1]) / 2);
    }
  }
  function words(t, i) {
    const track = tracks[t], b = i * WIDE, s = track.slices;
    const facts = data.facts[s[b + 5]];
    return `${data.names[s[b + 3]]}   ${track.group} ${track.name}\ncycles ${s[b]} to ${s[b + 1]} (${s[b + 1] - s[b]})${s[b + 4] ? ", line " + named(s[b + 4]) : ""}${s[b + 6] ? ", on the critical path" : ""}${facts ? "\n" + facts : ""}`;
  }
  function under(event) {
    const box = canvas.getBoundingClientRect(), px = event.clientX - box.left, py = event.clientY - box.top;
    const row = rows.find(row => py >= row.top && py < row.top + (row.counter !== undefined ? AREA : row.track !== undefined ? ROW : GROUP));
    if (!row) return null;
    if (row.fold !== undefined) return { text: "click folds and unfolds", fold: row.fold, px, py };
    if (px < LEFT) return row.labels ? { text: row.labels.join("\n"), px, py } : null;
    const cycle = cycleAt(px);
    if (row.counter !== undefined) { const s = data.counters[row.counter].samples; let value = 0; for (let i = 0; i < s.length && s[i] <= cycle; i += 2) value = s[i + 1]; return { text: `${data.counters[row.counter].name}\n${value} at cycle ${Math.round(cycle)}`, px, py }; }
    if (row.track === undefined) return null;
    const track = tracks[row.track], slack = (view[1] - view[0]) / plot() * 2; let best = -1;
    for (let i = first(track, cycle - slack); i < track.count && start(track, i) <= cycle + slack; i++) { if (start(track, i) <= cycle && end(track, i) > cycle) best = i; else if (best < 0 && end(track, i) + slack >= cycle) best = i; }
    return best < 0 ? null : { track: row.track, slice: best, text: words(row.track, best), px, py };
  }
  function choose(track, slice, fit) {
    chosen = [track, slice]; cursor = trackRows.findIndex(row => row.track === track);
    byId("chosen").textContent = words(track, slice);
    if (fit) show(track, slice);
    light(tracks[track].slices[slice * WIDE + 4]); draw();
  }
  function show(track, slice) {
    const a = start(tracks[track], slice), b = end(tracks[track], slice), span = view[1] - view[0];
    if (a < view[0] || b > view[1] || (b - a) / span * plot() < 4) { const half = Math.max((b - a) * 8, total / 200, 8); zoomTo((a + b) / 2 - half, (a + b) / 2 + half); }
  }
  function zoomTo(from, to) { const span = Math.min(total, Math.max(4, to - from)); from = Math.min(Math.max(0, from), total - span); view = [from, from + span]; draw(); }
  function zoom(by, middle) { middle = middle === undefined ? (view[0] + view[1]) / 2 : middle; zoomTo(middle - (middle - view[0]) * by, middle - (middle - view[0]) * by + (view[1] - view[0]) * by); }
  let drag = null;
  canvas.addEventListener("wheel", event => { event.preventDefault(); const middle = cycleAt(event.offsetX); if (event.shiftKey) { const by = (view[1] - view[0]) * event.deltaY / 1000; zoomTo(view[0] + by, view[1] + by); } else zoom(event.deltaY > 0 ? 1.25 : .8, middle); }, { passive: false });
  canvas.addEventListener("pointerdown", event => { drag = { x: event.clientX, view: [...view], moved: false }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", event => {
    if (drag) { const by = (drag.x - event.clientX) / plot() * (drag.view[1] - drag.view[0]); if (Math.abs(drag.x - event.clientX) > 3) drag.moved = true; if (drag.moved) zoomTo(drag.view[0] + by, drag.view[1] + by); return; }
    const hit = under(event); tip.hidden = !hit; if (!hit) return;
    tip.textContent = hit.text; tip.style.left = Math.max(0, Math.min(hit.px + 14, canvas.clientWidth - tip.offsetWidth - 4)) + "px"; tip.style.top = hit.py + 16 + "px";
  });
  canvas.addEventListener("pointerup", event => { const moved = drag && drag.moved; drag = null; if (moved) return; const hit = under(event); if (hit && hit.fold !== undefined) { if (!folded.delete(hit.fold)) folded.add(hit.fold); layout(); draw(); } else if (hit && hit.slice !== undefined) choose(hit.track, hit.slice); else clear(); });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  function clear() { chosen = null; line = 0; byId("chosen").textContent = ""; light(0); draw(); }
  canvas.addEventListener("keydown", event => {
    const span = view[1] - view[0], row = trackRows[cursor], keys = {
      ArrowLeft: () => zoomTo(view[0] - span / 8, view[1] - span / 8), ArrowRight: () => zoomTo(view[0] + span / 8, view[1] + span / 8),
      "+": () => zoom(.7), "=": () => zoom(.7), "-": () => zoom(1.4), 0: () => zoomTo(0, total), Home: () => zoomTo(0, span), End: () => zoomTo(total - span, total),
      ArrowUp: () => { cursor = Math.max(0, cursor - 1); draw(); }, ArrowDown: () => { cursor = Math.min(trackRows.length - 1, cursor + 1); draw(); },
      "]": () => { const track = tracks[row.track]; if (track.count) choose(row.track, chosen && chosen[0] === row.track ? Math.min(track.count - 1, chosen[1] + 1) : Math.min(track.count - 1, first(track, view[0])), true); },
      "[": () => { const track = tracks[row.track]; if (track.count) choose(row.track, chosen && chosen[0] === row.track ? Math.max(0, chosen[1] - 1) : Math.max(0, first(track, view[1]) - 1), true); },
      Enter: () => { if (chosen) { const a = start(tracks[chosen[0]], chosen[1]), b = end(tracks[chosen[0]], chosen[1]); zoomTo(a - (b - a) / 4, b + (b - a) / 4); } }, Escape: clear, o: foldAll, n: () => step(1), p: () => step(-1),
    };
    if (keys[event.key] && !event.ctrlKey && !event.metaKey) { event.preventDefault(); keys[event.key](); }
  });
  addEventListener("keydown", event => { if (event.key === "/" && !(event.target instanceof HTMLInputElement)) { event.preventDefault(); byId("search").focus(); } });
  byId("in").onclick = () => zoom(.7); byId("out").onclick = () => zoom(1.4); byId("all").onclick = () => zoomTo(0, total); byId("show-path").onchange = draw;
  byId("fold").onclick = foldAll; byId("fold").hidden = !folds.length;
  // Search.
  function search() {
    marked = byId("search").value.trim().toLowerCase() || null; found = []; at = -1;
    if (marked) { if (/^line:\d+$/.test(marked)) marked += " "; tracks.forEach((track, t) => { for (let i = 0; i < track.count; i++) if (matches(track, i)) found.push([t, i]); }); found.sort((a, b) => start(tracks[a[0]], a[1]) - start(tracks[b[0]], b[1]) || a[0] - b[0]); }
    byId("matches").textContent = marked ? `${found.length} found` : ""; draw();
  }
  function step(by) { if (!found.length) return; at = (at + by + found.length) % found.length; choose(found[at][0], found[at][1], true); byId("matches").textContent = `${at + 1} of ${found.length}`; }
  byId("search").oninput = search; byId("next").onclick = () => step(1); byId("previous").onclick = () => step(-1);
  byId("search").addEventListener("keydown", event => { if (event.key === "Enter") { event.preventDefault(); step(event.shiftKey ? -1 : 1); } else if (event.key === "Escape") { byId("search").value = ""; search(); canvas.focus(); } });

  // The source, with what each line did.
  const body = byId("source").tBodies[0], lines = new Map(data.lines.map(one => [one.line, one])), busiest = Math.max(1, ...data.lines.map(one => one.path));
  data.source.forEach((text, index) => {
    const number = index + 1, one = lines.get(number), row = body.insertRow(); row.id = "L" + number; row.tabIndex = one ? 0 : -1;
    const cell = text => { row.insertCell().textContent = text; };
    cell(named(number)); cell(one ? one.busy || "" : ""); cell(one ? one.stalled || "" : "");
    const path = row.insertCell(); if (one && one.path) { const heat = document.createElement("span"); heat.className = "heat"; heat.style.width = 50 * one.path / busiest + "px"; path.append(heat, String(one.path)); }
    cell(one ? one.moved || "" : ""); cell(text);
    if (one) row.title = one.stalls.map(stall => `${stall.cause} ${stall.cycles}`).join(", ");
    row.onclick = () => choose_line(number); row.onkeydown = event => { if (event.key === "Enter") choose_line(number); };
  });
  function light(number) { body.querySelectorAll("tr.chosen").forEach(row => row.classList.remove("chosen")); const row = number && byId("L" + number); if (row) { row.classList.add("chosen"); const box = row.closest(".scroll"); box.scrollTop = Math.max(0, row.offsetTop - box.clientHeight / 2); } }
  function choose_line(number) {
    line = line === number ? 0 : number; chosen = null; light(line); let count = 0;
    if (line) tracks.forEach(track => { for (let i = 0; i < track.count; i++) if (track.slices[i * WIDE + 4] === line) count++; });
    byId("chosen").textContent = line ? `line ${named(line)}: ${count} slices are shown, the others are faint (Esc shows all)` : ""; draw();
  }
  document.querySelectorAll("[data-line]").forEach(one => one.addEventListener("click", () => choose_line(Number(one.dataset.line))));

  // Tables sort by the column whose head is chosen.
  document.querySelectorAll("table.sorts").forEach(table => table.querySelectorAll("thead th").forEach((head, column) => {
    head.tabIndex = 0; head.setAttribute("role", "columnheader");
    const sort = () => {
      const up = head.getAttribute("aria-sort") === "descending"; table.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort")); head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const value = row => { const text = row.cells[column].textContent; const number = parseFloat(text); return text.trim() !== "" && !isNaN(number) ? number : text; };
      const order = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
      [...table.tBodies[0].rows].sort((a, b) => (up ? 1 : -1) * order(value(a), value(b))).forEach(row => table.tBodies[0].append(row));
    };
    head.onclick = sort; head.onkeydown = event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); } };
  }));

  // Pictures beside tables.
  const svg = (name, attributes, text) => { const one = document.createElementNS("http://www.w3.org/2000/svg", name); for (const [k, v] of Object.entries(attributes)) one.setAttribute(k, v); if (text !== undefined) one.textContent = text; return one; };
  if (byId("counters")) data.counters.filter(counter => counter.name.startsWith("ring ")).forEach(counter => {
    const wide = 900, tall = 90, picture = svg("svg", { viewBox: `0 0 ${wide} ${tall}`, width: "100%", role: "img", "aria-label": counter.name }), s = counter.samples, top = most[data.counters.indexOf(counter)];
    const px = cycle => 40 + cycle / total * (wide - 50), py = value => tall - 16 - value / top * (tall - 40); let d = `M${px(0)} ${py(0)}`, value = 0;
    for (let i = 0; i < s.length; i += 2) { d += ` L${px(s[i]).toFixed(1)} ${py(value).toFixed(1)} L${px(s[i]).toFixed(1)} ${py(s[i + 1]).toFixed(1)}`; value = s[i + 1]; }
    d += ` L${px(total)} ${py(value)}`; picture.append(svg("text", { x: 4, y: 12 }, counter.group ? `${counter.name}, ${counter.group}` : counter.name), svg("path", { d: d + ` L${px(total)} ${py(0)} Z`, class: "area" }), svg("path", { d, class: "curve" }));
    for (let v = 0; v <= top; v++) if (top <= 8 || v % Math.ceil(top / 8) === 0) picture.append(svg("text", { x: 24, y: py(v) + 4 }, v));
    picture.append(svg("path", { d: `M${px(0)} ${py(top)} V${py(0)} H${px(total)}`, class: "axis" }), svg("text", { x: px(0), y: tall - 5 }, "0"), svg("text", { x: px(total), y: tall - 5, "text-anchor": "end" }, total + " cycles"));
    byId("counters").append(picture);
  });
  (() => {
    const roof = data.roofline; if (!byId("roofline")) return; if (!roof) { byId("roofline").textContent = "Nothing was computed on data from global memory: there is no position."; return; }
    const wide = 720, tall = 300, picture = svg("svg", { viewBox: `0 0 ${wide} ${tall}`, width: wide, role: "img", "aria-label": "roofline" });
    const ridge = roof.compute / roof.bandwidth, mid = Math.sqrt(ridge * roof.intensity), reach = Math.max(ridge, roof.intensity) / mid * 8;
    const lx = [Math.log10(mid / reach), Math.log10(mid * reach)], top = Math.log10(roof.compute * 2), low = Math.min(Math.log10(roof.rate) - .5, Math.log10(roof.bandwidth) + lx[0]);
    const px = v => 60 + (Math.log10(v) - lx[0]) / (lx[1] - lx[0]) * (wide - 80), py = v => 20 + (top - Math.log10(v)) / (top - low) * (tall - 60);
    const left = Math.pow(10, lx[0]), right = Math.pow(10, lx[1]);
    picture.append(svg("path", { d: `M60 20 V${tall - 40} H${wide - 20}`, class: "axis" }), svg("path", { d: `M${px(left)} ${py(left * roof.bandwidth)} L${px(ridge)} ${py(roof.compute)} L${px(right)} ${py(roof.compute)}`, class: "roof" }), svg("circle", { cx: px(roof.intensity), cy: py(roof.rate), r: 6, class: "here" }));
    const say = (v, digits = 3) => Number(v.toPrecision(digits));
    const here = `this run: ${say(roof.rate)} ${roof.unit} a cycle, ${Math.round(100 * roof.rate / Math.min(roof.compute, roof.bandwidth * roof.intensity))} % of the roof`;
    picture.append(svg("text", { x: Math.max(64, Math.min(px(roof.intensity) + 10, wide - 4 - 7 * here.length)), y: py(roof.rate) + 18 }, here), svg("text", { x: px(right), y: py(roof.compute) - 6, "text-anchor": "end" }, `${say(roof.compute)} ${roof.unit} a cycle while ${roof.pipe} works`), svg("text", { x: px(left) + 4, y: 14 }, `slope: ${say(roof.bandwidth)} bytes of global memory a cycle while pipes move them`), svg("text", { x: wide - 20, y: tall - 24, "text-anchor": "end" }, `${roof.unit} for each byte of global memory (${say(roof.intensity)} here)`));
    byId("roofline").append(picture);
    const bound = roof.bandwidth * roof.intensity < roof.compute ? "moving data" : "computing";
    const words = document.createElement("p"); words.textContent = `At best this mix of work is bound by ${bound}.`; byId("roofline").append(words);
  })();

  new ResizeObserver(() => draw()).observe(canvas.parentElement);
  root.classList.toggle("dark", dark.matches); draw();
  addEventListener("hashchange", () => { const hit = /^#L(\d+)$/.exec(location.hash); if (hit) light(Number(hit[1])); });
  // For tests: how much there is, and what is chosen.
  window.report = { slices: tracks.reduce((sum, track) => sum + track.count, 0), flows: data.flows.length, view: () => view, chosen: () => chosen, line: () => line, found: () => found.length, cut: () => cut, rows: () => rows.length, left: () => LEFT };
})();
