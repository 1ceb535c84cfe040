// The page of weir lab run and weir lab micro: the state of the experiment, its finished runs, and the load of the current run.

import { Chart } from "./chart.js";
import { follow } from "./follow.js";
import { Heatmap } from "./heatmap.js";
import { Strip } from "./strip.js";
import { List, Table, element } from "./tables.js";
import { clock, lasting, number, seconds } from "./text.js";

const at = (id) => document.getElementById(id);

const chart = (id, title, series, text = number, help = "") => new Chart(at(id), { title, help, text, series });
const charts = [
  chart("rates", "Requests per second", [["sent", "c2", (s) => s.sent], ["answered", "c1", (s) => s.answered],
    ["errors", "bad", (s) => s.errors]]),
  new Heatmap(at("latency"), { quantile: seconds }),
  chart("quantiles", "Latency of p50 and p99", [["p50", "c1", (s) => s.requests.p50], ["p99", "c2", (s) => s.requests.p99]], seconds),
  chart("machine", "Processors in use", [["all processes", "c1", (s) => s.busy]], number, "Of this machine, while a run is loaded."),
];

let started = null; // the first event
let configurations = [];
const strips = new Map(); // by metric
let table = null;
let mostMore = 0; // measures of a run that are not shown
let last = null; // second
let finished = []; // runs

function showStart(s) {
  started = s;
  at("title").textContent = s.name;
  at("folder").textContent = s.folder;
  makeTable();
  table.fill([]);
}

function showPlan(p) {
  at("title").textContent = p.title || started.name;
  at("question").textContent = p.question;
  configurations = p.configurations;
}

const valueOf = (run, metric) => run.values.find((v) => v.metric === metric);

function makeTable() {
  table = new Table(at("runs"), "Finished runs", [["run", (r) => String(r.number)], ["block", (r) => String(r.block), "n"],
    ["configuration", (r) => r.configuration],
    ["outcome", (r) => ({ text: r.error ? `${r.outcome}: ${r.error}` : r.outcome, bad: r.outcome !== "done" })],
    ...[...strips.keys()].map((metric) => [metric, (r) => valueOf(r, metric)?.text ?? "–", "n"])]);
}

// showRun adds a run. Metrics appear with the first run that has them.
function showRun(r, more) {
  finished.push(r);
  for (const value of r.values) {
    if (!strips.has(value.metric)) {
      const figure = element("figure");
      at("strips").append(figure);
      strips.set(value.metric, new Strip(figure, value.metric, configurations));
      makeTable();
    }
    strips.get(value.metric).add(r.configuration, value);
  }
  mostMore = Math.max(mostMore, r.more);
  at("more").hidden = mostMore === 0;
  at("more").textContent = mostMore === 1 ? "The report has another measure." : `The report has ${mostMore} other measures.`;
  if (!more) {
    table.fill(finished.toReversed());
  }
}

// announce changes a text that a screen reader reads aloud, so only if it differs.
function announce(text) {
  if (at("state").textContent !== text) {
    at("state").textContent = text;
  }
}

const now = new List(at("now"));

function showProgress(p, more) {
  if (more) {
    return;
  }
  const time = p.left > 0.5 ? `${lasting(Math.round(p.left))} left` : `${lasting(Math.floor(p.elapsed))} so far`;
  if (p.of > 0) {
    at("progress").value = (p.step === "ended" ? p.run : p.run - 1) / p.of;
  }
  announce(p.configuration ? `${p.step}: ${p.configuration}` : p.step);
  at("about").textContent = `· ${time} · ${started.name} · ${started.version}`;
  document.title = `${p.of > 0 ? `${p.run}/${p.of} · ` : ""}${time} · weir lab`;
  now.fill([["run", p.of > 0 ? `${p.run} of ${p.of}` : "–"], ["block", p.block > 0 ? String(p.block) : "–"],
    ["configuration", p.configuration || "–"], ["step", p.line || p.step], ["time", time],
    ...(last ? [["sent per second", number(last.sent)], ["p99", seconds(last.requests.p99)], ["processors", number(last.busy)]] : [])]);
}

function showSecond(s, more) {
  last = { ...s, latency_bounds: started.latency_bounds };
  at("course").hidden = false;
  charts.forEach((c) => c.add(last, more));
}

function showEnd({ error, interrupted, text }) {
  at("progress").hidden = true;
  document.title = "ended · weir lab";
  at("about").textContent = `· ${started.name} · ${started.version}`;
  announce(error ? `the experiment has failed: ${error}` : `the experiment ${interrupted ? "was interrupted" : "has ended"}, and weir lab with it`);
  at("now").parentElement.hidden = true;
  at("result").hidden = !text;
  at("text").textContent = text;
}

const shows = { start: showStart, plan: showPlan, run: showRun, progress: showProgress, second: showSecond, end: showEnd };

follow("/events", ["plan", "run", "progress", "second"], (events) => {
  events.forEach(([name, value], i) => shows[name](value, events.slice(i + 1).some(([next]) => next === name)));
}, () => announce(`not connected since ${clock(Date.now())}: weir lab has ended, or cannot be reached`));
