// The page of weir load: its events once a second, and the result at the end.

import { Chart, runAxis } from "./chart.js";
import { follow } from "./follow.js";
import { Heatmap } from "./heatmap.js";
import { List, Table, element } from "./tables.js";
import { clock, count, lasting, number, seconds } from "./text.js";

const at = (id) => document.getElementById(id);
const warn = (text, bad) => ({ text, bad });
const latency = (s) => (s == null ? "never" : seconds(s));

let started = null; // the first event
let charts = null; // made when the run has begun

function makeCharts(p) {
  const axis = runAxis(Date.parse(p.began), p.duration);
  const chart = (id, title, series, text = number, help = "") => new Chart(at(id), { title, help, text, axis, series });
  const ofClass = (name, style) => [name, style, (s) => s.status[name] ?? 0];
  at("course").hidden = false;
  charts = [
    chart("rates", "Requests per second", [["due", "c3", (s) => (p.from_due ? s.asked : null)], ["sent", "c2", (s) => s.sent],
      ["answered", "c1", (s) => s.answered], ["errors", "bad", (s) => s.errors]]),
    new Heatmap(at("latency"), { axis, quantile: seconds }),
    chart("quantiles", "Latency of p50 and p99", [["p50", "c1", (s) => s.requests.p50], ["p99", "c2", (s) => s.requests.p99]],
      seconds, p.from_due ? "From when a request was due." : "From when a request was sent."),
    chart("status", "Responses per second", [ofClass("2xx", "c1"), ofClass("3xx", "c3"), ofClass("4xx", "c2"), ofClass("5xx", "bad")]),
    chart("connections", "Connections and requests under way", [["connections", "c1", (s) => s.connections],
      ["under way", "c2", (s) => s.in_flight]]),
    chart("machine", "Processors in use", [["all processes", "c1", (s) => s.busy]], number, "Of the machine that sends."),
  ];
  at("schedule").hidden = !p.from_due;
  if (p.from_due) {
    charts.push(chart("schedule", "Behind the schedule", [["due, not sent", "c2", (s) => s.due], ["late per second", "c3", (s) => s.late],
      ["not sent per second", "bad", (s) => s.unsent]], number, "A request is late more than 1 ms after it was due."));
  }
}

const rows = (counts) => Object.entries(counts ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
const account = new Table(at("account"), "Requests", [["requests", (r) => r[0]], ["so far", (r) => r[1], "n"]]);
const classes = new Table(at("classes"), "Responses", [["status", (r) => r[0]],
  ["responses", (r) => warn(count(r[1]), r[0] >= "4"), "n"]]);
const failures = new Table(at("failures"), "Failures", [["kind", (r) => r[0]], ["failures", (r) => warn(count(r[1]), true), "n"]]);
const now = new List(at("now"));

function showNumbers(p, s) {
  const quantile = (name) => p.latency?.find((q) => q.name === name);
  const text = (q) => (q ? (q.at_least ? "≥ " : "") + latency(q.value) : "–");
  now.fill([["sent per second", number(s?.sent)], ["answered per second", number(s?.answered)],
    ...["p50", "p99", "max"].map((name) => [`${name} so far`, text(quantile(name))]),
    ["errors", warn(count(p.errors), p.errors > 0)], ["connections", count(p.connections)], ["under way", count(p.in_flight)],
    ...(p.from_due ? [["late", warn(count(p.late), p.late > 0)], ["not sent", warn(count(p.unsent), p.unsent > 0)]] : []),
    ...(p.agents ? [["agents that report", warn(`${p.reporting} of ${p.agents}`, p.reporting < p.agents)]] : [])]);
  account.fill([["due", count(p.asked)], ["sent", count(p.sent)], ["answered", count(p.answered)], ["errors", warn(count(p.errors), p.errors > 0)],
    ["under way", count(p.in_flight)], ["not sent", warn(count(p.unsent), p.unsent > 0)], ["late", warn(count(p.late), p.late > 0)]]);
  classes.fill(rows(p.status));
  failures.fill(rows(p.failures));
}

// announce changes a text that a screen reader reads aloud, so only if it differs.
function announce(text) {
  if (at("state").textContent !== text) {
    at("state").textContent = text;
  }
}

function showStart(s) {
  started = s;
  at("title").textContent = `Load on ${s.url}`;
  at("about").textContent = `· ${s.pace} · ${s.protocol} · ${s.version}`;
}

let last = null; // second

// showProgress shows the state of the run. more says that another state follows at once, and moreSeconds another second.
function showProgress(p, more, moreSeconds) {
  if (p.second) {
    last = { ...p.second, latency_bounds: started.latency_bounds };
    if (charts === null) {
      makeCharts(p);
    }
    charts.forEach((c) => c.add(last, moreSeconds));
  }
  if (more) {
    return;
  }
  announce(p.elapsed < 0 ? "warming up" : p.waiting ? "waiting for the last responses" : "running");
  if (p.share >= 0) { // without a value it only moves
    at("progress").value = p.share;
  }
  const time = p.elapsed < 0 ? `${lasting(Math.ceil(-p.elapsed))} of the warm-up left`
    : p.left == null ? `${lasting(p.elapsed)} so far` : `${lasting(Math.round(p.left))} left`;
  document.title = `${time} · weir load`;
  at("about").textContent = `· ${time} · ${started.pace} · ${started.protocol} · ${started.version}`;
  showNumbers(p, last);
}

function showEnd({ error, interrupted, summary: s }) {
  at("progress").hidden = true;
  document.title = "ended · weir load";
  at("about").textContent = `· ${started.pace} · ${started.protocol} · ${started.version}`;
  announce(error ? `the run has failed: ${error}` : `the run ${interrupted ? "was interrupted" : "has ended"}, and weir load with it`);
  if (!s) {
    return;
  }
  at("now-title").textContent = "At the end";
  at("result").hidden = false;
  at("headline").textContent = s.Headline.join(" ");
  const warnings = [...(s.Distrust ? [`Not to be trusted: ${s.Distrust}`] : []), ...(s.Warnings ?? [])];
  at("warnings").replaceChildren(...(warnings.length === 0 ? []
    : [element("div", { class: "warnings" }, element("ul", {}, ...warnings.map((w) => element("li", {}, w))))]));
  at("tables").replaceChildren(...s.Tables.map(resultTable));
  at("counts").hidden = true;
}

// resultTable draws a table of the result. Its last column has remarks, if there are any.
function resultTable(t) {
  const columns = t.Columns.map((c, i) => [c, i]).filter(([c, i]) => c.Name || t.Rows.some((r) => r[i].Text));
  const name = t.Columns[0].Name;
  const place = element("div", { class: "table", role: "region", "aria-label": name, tabindex: "0" });
  new Table(place, name, columns.map(([c, i]) => [c.Name || "remark", (r) => warn(r[i].Text, r[i].Class === "bad"), c.Number ? "n" : ""]))
    .fill(t.Rows);
  place.append(...(t.Notes ?? []).map((note) => element("p", { class: "help" }, note)));
  return place;
}

const shows = { start: showStart, progress: showProgress, end: showEnd };

follow("/events", ["progress"], (events) => {
  events.forEach(([name, value], i) => {
    const rest = events.slice(i + 1);
    shows[name](value, rest.some(([next]) => next === "progress"), rest.some(([, next]) => next.second));
  });
}, () => announce(`not connected since ${clock(Date.now())}: weir load has ended, or cannot be reached`));
