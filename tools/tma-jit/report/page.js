// Draws the pictures of `tma-jit report` from the inputs that the command has checked and put into the page.
"use strict";
(() => {
const inputs = JSON.parse(document.getElementById("inputs").textContent);
const of_kind = (kind) => inputs.filter((input) => input.kind === kind);
const charts = [];

// ---- Colours and numbers

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const series_colour = (i) => { const all = style("--series").split(" "); return all[i % all.length]; };
const positive = (value) => typeof value === "number" && value > 0;
const words_of = (values) => Object.entries(values).map(([name, value]) => `${name}=${value}`).join(" ");
const dims_of = (item) => Object.fromEntries(item.dims.map((dim) => [dim.name, dim.value]));
const shown = (value) => Number(value.toPrecision(4)).toLocaleString("en");

// ---- Figures

// Adds a figure that has only its caption, and returns it.
function add_captioned(id, title, note) {
  const figure = document.getElementById("figures").appendChild(document.createElement("figure"));
  figure.id = id;
  const caption = figure.appendChild(document.createElement("figcaption"));
  caption.appendChild(document.createElement("strong")).textContent = title;
  caption.appendChild(document.createElement("span")).textContent = note;
  return figure;
}

// Adds a figure with a canvas. `make` returns a chart.js configuration in the present colours.
function add_figure(id, title, note, height, make) {
  const plot = add_captioned(id, title, note).appendChild(document.createElement("div"));
  plot.className = "plot";
  plot.style.height = `${height}px`;
  const canvas = plot.appendChild(document.createElement("canvas"));
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${title}. ${note}`);
  charts.push({ canvas, make, chart: null });
}

function add_table(id, title, note, heads, rows) {
  const table = add_captioned(id, title, note).appendChild(document.createElement("table"));
  const add_row = (cells, kind) => {
    const row = table.appendChild(document.createElement("tr"));
    for (const cell of cells) row.appendChild(document.createElement(kind)).textContent = cell;
  };
  add_row(heads, "th");
  for (const row of rows) add_row(row, "td");
}

function axis(title, more = {}) {
  return { title: { display: true, text: title, color: style("--text") }, ticks: { color: style("--muted") },
           grid: { color: style("--grid") }, ...more };
}

// A logarithmic axis with numbers at 1, 2 and 5 of each decade.
function log_axis(title, more = {}) {
  const label = (value) => {
    const digit = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
    return [1, 2, 5].some((mark) => Math.abs(digit - mark) < 1e-6) ? shown(value) : "";
  };
  return axis(title, { type: "logarithmic", ticks: { color: style("--muted"), callback: label, autoSkip: false, maxRotation: 0 }, ...more });
}

// An axis of a sweep: its ticks are the measured values.
function value_axis(title, values) {
  const ticks = [...new Set(values)].sort((a, b) => a - b);
  return axis(title, { type: "logarithmic", min: ticks[0], max: ticks[ticks.length - 1] || 1,
    ticks: { color: style("--muted"), autoSkip: true, maxRotation: 45, callback: (value) => value.toLocaleString("en") },
    afterBuildTicks: (scale) => { scale.ticks = ticks.map((value) => ({ value })); } });
}

const legend = (more = {}) => ({ labels: { color: style("--text"), usePointStyle: true, ...more } });
const options = (scales, more = {}) => ({ animation: false, responsive: true, maintainAspectRatio: false, scales,
                                          ...more, plugins: { legend: legend(), ...more.plugins } });
// A tooltip that prints the text `say` returns for a point.
const telling = (say) => ({ callbacks: { title: () => "", label: (item) => say(item.raw, item) } });

// ---- Throughput against size

function measured() {
  const sets = [];
  const plain = new Map();
  for (const input of inputs) {
    if (input.kind === "sweep") {
      sets.push({ names: input.data.sweep.split(","), items: input.data.results.filter((each) => !each.error) });
    } else if (input.kind === "bench") {
      const key = `${input.data.kernel} on ${input.data.device}`;
      if (!plain.has(key)) plain.set(key, { names: null, items: [] });
      plain.get(key).items.push(input.data);
    }
  }
  return [...sets, ...plain.values()].map((set) => ({ ...set, items: set.items.filter((item) => !item.emulated && item.median_us > 0) }))
    .filter((set) => set.items.length > 0);
}

const bytes_of = (item) => positive(item.bytes) ? item.bytes : (item.gb_per_s || 0) * item.median_us * 1e3;
const flops_of = (item) => positive(item.flops) ? item.flops : (item.tflops || 0) * item.median_us * 1e6;

// Where a measurement lies on the axis of sizes: its swept dim, the one dim that varies, or its bytes.
function size_of(set) {
  const all = set.items.map(dims_of);
  const varying = Object.keys(all[0]).filter((name) => all.some((dims) => dims[name] !== all[0][name]));
  const together = varying.length > 0 && all.every((dims) => varying.every((name) => dims[name] === dims[varying[0]]));
  const names = set.names || (together ? varying : null);
  if (names && all.every((dims) => names[0] in dims)) return { title: names.join(" = "), at: (item) => dims_of(item)[names[0]] };
  return { title: "bytes of compulsory traffic", at: bytes_of };
}

function add_throughput() {
  measured().forEach((set, number) => {
    const first = set.items[0];
    const by_flops = set.items.some((item) => flops_of(item) > 0);
    const work = by_flops ? flops_of : bytes_of;
    const unit = by_flops ? "TFLOP/s" : "GB/s";
    const rate = (item, us) => work(item) / us * (by_flops ? 1e-6 : 1e-3);
    const size = size_of(set);
    const items = set.items.filter((item) => positive(size.at(item)) && work(item) > 0).sort((a, b) => size.at(a) - size.at(b));
    if (items.length === 0) return;
    const peers = [...new Set(items.flatMap((item) => (item.peers || []).map((peer) => peer.name)))];
    const point = (item, us, more) => ({ x: size.at(item), y: rate(item, us), us, what: `${words_of(dims_of(item))}${more}` });
    const lines = [{ label: "tma-jit", data: items.map((item) => point(item, item.median_us, item.config ? ` (${words_of(item.config)})` : "")) },
      ...peers.map((name) => ({ label: name, borderDash: [6, 4], data: items.flatMap((item) =>
        (item.peers || []).filter((peer) => peer.name === name && peer.median_us > 0).map((peer) => point(item, peer.median_us, ""))) }))];
    add_figure(`throughput-${number}`, `${first.kernel} on ${first.device}: throughput against size`,
      first.source || first.method || "", 380, () => ({
      type: "line",
      data: { datasets: lines.map((line, i) => ({ ...line, borderColor: series_colour(i), backgroundColor: series_colour(i), pointRadius: 4 })) },
      options: options({ x: value_axis(size.title, items.map(size.at)), y: axis(unit, { beginAtZero: true }) },
        { plugins: { tooltip: telling((raw, item) => `${item.dataset.label}: ${shown(raw.y)} ${unit}, ${shown(raw.us)} us; ${raw.what}`) } }),
    }));
  });
}

// ---- Roofline

// Groups points by device and peak, because each such pair has a roof of its own.
function roofs() {
  const groups = new Map();
  const add = (item, flops, bytes, us, peak, memory, label) => {
    if (!(flops > 0 && bytes > 0 && us > 0 && peak > 0 && memory > 0)) return;
    const key = `${item.device}, peak ${shown(peak)} TFLOP/s and ${shown(memory)} GB/s`;
    if (!groups.has(key)) groups.set(key, { peak, memory, sets: {} });
    const sets = groups.get(key).sets;
    (sets[label] = sets[label] || []).push({ x: flops / bytes, y: flops / us * 1e-6, what: `${item.kernel} ${words_of(dims_of(item))} ${words_of(item.config || {})}` });
  };
  for (const set of measured()) {
    for (const item of set.items) {
      for (const { name, median_us } of [{ name: "measured", median_us: item.median_us }, ...(item.peers || [])])
        add(item, flops_of(item), bytes_of(item), median_us, item.peak_tflops, item.peak_gb_per_s, name);
    }
  }
  for (const { data } of of_kind("estimate")) {
    for (const item of [data, ...(data.candidates || [])]) {
      add(item, item.flops, item.hbm_bytes, item.time_us, item.peak_tflops, item.peak_gb_per_s, item === data ? "estimated, as planned" : "estimated, candidates");
    }
  }
  return groups;
}

function add_rooflines() {
  let number = 0;
  for (const [key, { peak, memory, sets }] of roofs()) {
    const xs = Object.values(sets).flat().map((point) => point.x);
    const ys = Object.values(sets).flat().map((point) => point.y);
    const ridge = peak / memory * 1e3;
    const least = Math.min(...xs, ridge) / 4, most = Math.max(...xs, ridge) * 4;
    const roof = [least, ridge, most].map((x) => ({ x, y: Math.min(peak, x * memory * 1e-3), what: "roof" }));
    add_figure(`roofline-${number++}`, `Roofline of ${key}`, "Operations a second against operations per byte of device memory.", 400, () => ({
      type: "scatter",
      data: { datasets: [
        ...Object.entries(sets).map(([label, data], i) => ({ label, data, backgroundColor: series_colour(i), borderColor: style("--page"), pointRadius: 6 })),
        { label: "roof", data: roof, showLine: true, pointRadius: 0, pointHitRadius: 0, borderColor: style("--muted"), backgroundColor: style("--muted"), borderWidth: 2 }] },
      options: options({ x: log_axis("operations per byte", { min: least, max: most }),
                         y: log_axis("TFLOP/s", { min: Math.min(...ys, roof[0].y) / 1.5, max: peak * 1.6 }) },
        { plugins: { tooltip: telling((raw) => `${raw.what}: ${shown(raw.y)} TFLOP/s`) } }),
    }));
  }
}

// ---- Configurations

// Horizontal bars, the shortest time on top.
function add_bars(id, title, note, bars, datasets, scales) {
  add_figure(id, title, note, 90 + 26 * bars.length * Math.max(1, datasets.length / 2), () => ({
    type: "bar",
    data: { labels: bars, datasets: datasets.map((set, i) => ({ ...set, backgroundColor: series_colour(i) })) },
    options: options({ y: axis("configuration", { grid: { display: false }, ticks: { color: style("--text"), autoSkip: false } }), ...scales() },
      { indexAxis: "y", plugins: { legend: { ...legend(), display: datasets.length > 1 } } }),
  }));
}

// The params in which configurations differ; all of them if they are the same.
function differing(configs) {
  const names = [...new Set(configs.flatMap((config) => Object.keys(config)))];
  const some = names.filter((name) => configs.some((config) => config[name] !== configs[0][name]));
  return configs.map((config) => words_of(Object.fromEntries((some.length ? some : names).filter((name) => name in config).map((name) => [name, config[name]]))));
}

function add_configurations() {
  let number = 0;
  const add = (title, note, list) => {
    const sorted = [...list].sort((a, b) => a.us - b.us).slice(0, 40);
    if (sorted.length === 0) return;
    const labels = differing(sorted.map((one) => one.config)).map((words, i) => `${sorted[i].file} ${words}`);
    add_bars(`configurations-${number++}`, title, note, labels, [{ label: "time", data: sorted.map((one) => one.us) }],
             () => ({ x: axis("microseconds", { beginAtZero: true }) }));
  };
  for (const { data } of of_kind("tune")) {
    for (const result of data.results.filter((each) => !each.error)) {
      const trials = result.trials.filter((trial) => trial.us > 0).map((trial) => ({ us: trial.us, file: trial.file, config: trial.params }));
      add(`${result.record.kernel} ${words_of(result.record.dims)} on ${result.record.device}: time of each configuration`,
          `As tune measured it; ${trials.length} of ${result.trials.length} trials have a time.`, trials);
    }
  }
  for (const { data } of of_kind("estimate")) {
    const list = (data.candidates || []).map((one) => ({ us: one.time_us, file: one.file || "", config: one.config }));
    add(`${data.kernel} ${words_of(dims_of(data))} on ${data.device}: estimated time of each configuration`, "An estimate, not a measurement.", list);
  }
}

function add_occupancy() {
  const groups = new Map();
  for (const { data } of of_kind("estimate")) {
    if (!groups.has(data.device)) groups.set(data.device, []);
    groups.get(data.device).push(...(data.candidates && data.candidates.length ? data.candidates : [data]));
  }
  let number = 0;
  for (const [device, all] of groups) {
    const list = all.slice(0, 24);
    const configs = differing(list.map((one) => one.config));
    const same = list.every((one) => one.kernel === list[0].kernel && words_of(dims_of(one)) === words_of(dims_of(list[0])));
    const labels = list.map((one, i) => same ? `${one.file || ""} ${configs[i]}` : `${one.kernel} ${words_of(dims_of(one))}`);
    const title = same ? `${list[0].kernel} ${words_of(dims_of(list[0]))} on ${device}` : device;
    add_bars(`occupancy-${number++}`, `${title}: occupancy and waves`, "Blocks that an SM holds, waves of blocks over all SMs, and how much of the device the last wave fills.",
      labels, [{ label: "blocks an SM", data: list.map((one) => one.blocks_per_sm) }, { label: "waves", data: list.map((one) => one.waves) },
               { label: "last wave, %", xAxisID: "share", data: list.map((one) => 100 * one.tail) }],
      () => ({ x: axis("blocks an SM, waves", { beginAtZero: true }), share: axis("last wave, % of the device", { position: "top", min: 0, max: 100, grid: { display: false } }) }));
  }
}

// ---- Timeline of a block

const kKinds = ["instructions", "issue", "stall", "copy", "product", "barrier phase"];
const kPhase = 5;
const kKindColours = ["--run", "--issue", "--stall", "--copy", "--product", "--phase"];

// The legend's boxes have the colours of their kinds, without the border of a kind's first event.
function kind_labels(chart) {
  return Chart.defaults.plugins.legend.labels.generateLabels(chart).map((label) => ({ ...label, lineWidth: label.text === "critical path" ? 1.5 : 0 }));
}

function add_timelines() {
  of_kind("timeline").forEach(({ data }, number) => {
    const kinds = kKinds.map((label, kind) => ({ label, kind, events: data.events.filter((event) => event[3] === kind) })).filter((set) => set.events.length > 0);
    const bar = (event) => ({ x: [event[1], event[2]], y: data.rows[event[0]], what: data.names[event[4]] || "phase", critical: event[5] });
    const last = data.events.reduce((most, event) => Math.max(most, event[2]), 1);
    const note = `Time is in instructions of warps, which is not a device's time. The critical path, outlined, has ${shown(data.critical_ticks)} of them.` +
                 (data.left_out > 0 ? ` The last ${data.left_out} events are left out.` : "");
    add_figure(`timeline-${number}`, `${data.kernel} on ${data.arch}, block ${data.block}: timeline of the emulator`, note, 110 + 26 * data.rows.length, () => ({
      type: "bar",
      data: { labels: data.rows, datasets: [
        ...kinds.map(({ label, kind, events }) => ({ label, data: events.map(bar), backgroundColor: style(kKindColours[kind]), grouped: false,
          barPercentage: 0.8, categoryPercentage: 1, borderSkipped: false, minBarLength: 1,
          borderColor: events.map((event) => event[5] ? style("--critical") : style("--page")),
          borderWidth: events.map((event) => event[5] ? 1.5 : kind === kPhase ? { left: 0, right: 1.5 } : 0) })),
        { label: "critical path", data: [], backgroundColor: "transparent", borderColor: style("--critical"), borderWidth: 1.5 }] },
      options: options({ x: axis("instructions of warps", { min: 0, max: last }),
                         y: axis("warps and barriers", { grid: { display: false }, ticks: { color: style("--text"), autoSkip: false } }) },
        { indexAxis: "y", plugins: { legend: legend({ usePointStyle: false, boxWidth: 14, generateLabels: kind_labels }),
          tooltip: telling((raw) => `${raw.what}: ${shown(raw.x[0])} to ${shown(raw.x[1])}${raw.critical ? ", critical" : ""}`) } }),
    }));
  });
}

// ---- Cache, and what doctor found

function add_cache() {
  const snapshots = of_kind("stats").map((input) => input.data);
  if (snapshots.length === 0) return;
  const lines = { "in memory": (s) => s.memory_hits, "on disk": (s) => s.disk_hits, "not on disk": (s) => s.disk_misses, compiles: (s) => s.compiles };
  add_figure("cache", "Cache hits over time", "An engine's counters since it was made, in the order of the inputs.", 320, () => ({
    type: "line",
    data: { labels: snapshots.map((_, i) => i + 1), datasets: Object.entries(lines).map(([label, of], i) => ({ label, data: snapshots.map(of), stepped: true,
      borderColor: series_colour(i), backgroundColor: series_colour(i) })) },
    options: options({ x: axis("snapshot"), y: axis("count", { beginAtZero: true }) }),
  }));
}

function add_doctor() {
  of_kind("doctor").forEach(({ data }, number) => {
    const device = data.device && data.device.name ? data.device.name : "this machine";
    const rows = (data.comparison || []).filter((row) => positive(row.with_tma.share) || positive(row.without_tma.share));
    if (rows.length > 0) {
      add_bars(`comparison-${number}`, `${device}: with and without TMA`, "Share of the device's peak, L2 written over before each launch.",
        rows.map((row) => `${row.kernel} ${row.problem}`), [{ label: "with TMA", data: rows.map((row) => 100 * (row.with_tma.share || 0)) },
        { label: "without TMA", data: rows.map((row) => 100 * (row.without_tma.share || 0)) }],
        () => ({ x: axis("% of the device's peak", { min: 0, max: 100 }), y: axis("problem", { grid: { display: false }, ticks: { color: style("--text") } }) }));
    }
    const proofs = data.proofs.map((proof) => [proof.kernel || "", proof.passed ? "passed" : "failed", proof.launched ? "launched" : "not launched"]);
    const features = data.features.map((feature) => [feature.name || feature.feature || "", feature.status || "", feature.kernel || ""]);
    add_table(`doctor-${number}`, `doctor: ${data.passed ? "all is well" : "something is wrong"}`, device, ["kernel or feature", "result", ""], [...proofs, ...features]);
  });
}

// ---- The page

function draw() {
  for (const entry of charts) {
    if (entry.chart) entry.chart.destroy();
    entry.chart = new Chart(entry.canvas, entry.make());
  }
}

Chart.defaults.font.size = 13;
add_throughput();
add_rooflines();
add_configurations();
add_occupancy();
add_timelines();
add_cache();
add_doctor();
// #ID shows that figure alone, for pictures of single figures.
const alone = document.getElementById(location.hash.slice(1));
if (alone) {
  document.body.className = "alone";
  alone.className = "shown";
}
draw();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
})();
