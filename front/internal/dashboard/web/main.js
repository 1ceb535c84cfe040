// The page: it gets a snapshot a second from /events, while it is visible, and draws it.

import { Chart, roundBytes } from "./chart.js";
import { Drain } from "./drain.js";
import { Failures } from "./failures.js";
import { Heatmap } from "./heatmap.js";
import { Request } from "./request.js";
import { List, Table, element } from "./tables.js";
import { Tail } from "./tail.js";
import { atMost, bytes, count, lasting, number, percent, seconds, visible } from "./text.js";

const at = (id) => document.getElementById(id);
const rate = (counter) => counter?.per_second ?? 0;
const sum = (counters, of) => Object.values(counters ?? {}).reduce((n, c) => n + of(c), 0);
const warn = (text, bad) => ({ text, bad });
const named = (counters) => Object.entries(counters ?? {}).map(([name, c]) => `${name} ${count(c.total)}`).join(", ");

const charts = [
  new Chart(at("classes"), {
    title: "Requests per second", text: number,
    series: [["2xx", "c1", (d) => rate(d.requests.classes["2xx"])], ["3xx", "c3", (d) => rate(d.requests.classes["3xx"])],
      ["4xx", "c2", (d) => rate(d.requests.classes["4xx"])], ["5xx", "bad", (d) => rate(d.requests.classes["5xx"])]],
  }),
  new Heatmap(at("latency")),
  new Chart(at("in-flight"), {
    title: "Requests in flight", text: number,
    series: [["in flight", "c1", (d) => d.requests.in_flight],
      ["waiting for a server", "c2", (d) => (d.upstreams ?? []).reduce((n, u) => n + u.waiting + u.queued, 0)]],
  }),
  new Chart(at("events"), {
    title: "Events per second", text: number,
    series: [["emitted", "c3", (d) => rate(d.log.emitted)], ["written", "c1", (d) => rate(d.log.written)],
      ["dropped", "bad", (d) => sum(d.log.dropped, rate)]],
  }),
  new Chart(at("queue"), {
    title: "Bytes in the queue of the log", text: bytes, roundUp: roundBytes, series: [["waiting", "c1", (d) => d.log.queue_bytes]],
  }),
  new Chart(at("cpu"), {
    title: "Processors in use", text: number, series: [["process", "c1", (d) => rate(d.process.cpu_seconds)],
      ["log", "c2", (d) => rate(d.process.cpu_seconds) * d.log.cpu_share]],
  }),
  new Chart(at("memory"), {
    title: "Memory", text: bytes, roundUp: roundBytes, series: [["heap", "c1", (d) => d.process.heap_bytes],
      ["resident", "c2", (d) => d.process.resident_bytes]],
  }),
];

const drain = new Drain({ form: at("operator"), token: at("token"), status: at("drained") });
const servers = (d) => d.upstreams?.flatMap((u) => (u.servers ?? []).map((s) => ({ upstream: u.upstream, ...s }))) ?? [];

const latencies = [["p50", (r) => atMost(r.p50), "n"], ["p99", (r) => atMost(r.p99), "n"]];
const ofClass = (name) => [name, (r) => warn(count(r.classes[name]?.total ?? 0), name === "5xx" && rate(r.classes[name]) > 0), "n"];

const tables = [
  [new Table(at("routes"), "Routes", [["route", (r) => r.route], ["per second", (r) => number(r.per_second), "n"], ...latencies,
    ["since the start", (r) => count(r.total), "n"], ...["2xx", "3xx", "4xx", "5xx"].map(ofClass)]), (d) => d.routes],
  [new Table(at("refusals"), "Refusals", [["by", (r) => r.by], ["reason", (r) => r.reason], ["route", (r) => r.route],
    ["per second", (r) => warn(number(r.per_second), r.per_second > 0), "n"], ["total", (r) => count(r.total), "n"]]), (d) => d.refusals],
  [new Table(at("limits"), "Limits", [["limit", (l) => l.limit], ["route", (l) => l.route], ["in use", (l) => count(l.in_use), "n"],
    ["of", (l) => (l.value > 0 ? count(l.value) : "–"), "n"],
    ["share", (l) => (l.limit === "rate" || !l.value ? "–" : warn(percent(l.in_use / l.value), l.in_use >= 0.9 * l.value)), "n"]]),
  (d) => d.limits],
  [new Table(at("servers"), "Servers", [["server", (s) => s.server], ["upstream", (s) => s.upstream],
    ["state", (s) => warn(Object.entries(s.states).map(([name, n]) => (n > 1 ? `${n} ${name}` : name)).join(", "),
      Object.keys(s.states).some((name) => !["usable", "starting"].includes(name)))],
    ["in flight", (s) => count(s.in_flight), "n"], ["per second", (s) => number(s.requests.per_second), "n"], ...latencies,
    ["since the start", (s) => count(s.requests.total), "n"], ["weight", (s) => number(s.weight), "n"], drain.column]),
  servers],
  [new Table(at("waits"), "Waiting requests", [["where", (w) => w[0]], ["waiting", (w) => warn(count(w[1]), w[1] > 0), "n"],
    ["at most", (w) => (w[2] > 0 ? count(w[2]) : "–"), "n"]]), waits],
  [new Table(at("upstreams"), "Upstreams", [["upstream", (u) => u.upstream],
    ["per second", (u) => number(sum(u.classes, rate)), "n"], ...["2xx", "3xx", "4xx", "5xx"].map(ofClass),
    ["retries", (u) => count(u.retries.total), "n"],
    ["failures", (u) => warn(named(u.failures) || "0", sum(u.failures, rate) > 0)]]), (d) => d.upstreams],
  [new Table(at("log"), "Events of the log", [["events", (r) => r[0]], ["per second", (r) => r[1], "n"], ["total", (r) => r[2], "n"]]), logRows],
  [new Table(at("destinations"), "Destinations of the log", [["to", (r) => r.to], ["written", (r) => count(r.written.total), "n"],
    ["dropped", (r) => warn(count(r.dropped.total), r.dropped.total > 0), "n"], ["waiting in memory", (r) => bytes(r.queue_bytes), "n"],
    ["events on a disk", (r) => count(r.disk_events), "n"]]), (d) => d.destinations],
  [new Table(at("process"), "The process", [["resource", (r) => r[0]], ["now", (r) => r[1], "n"]]), processRows],
  [new Table(at("loops"), "Event loops", [["event loop", (l) => l.loop],
    ["busy", (l) => warn(percent(rate(l.cpu_seconds)), rate(l.cpu_seconds) >= 0.95), "n"],
    ["CPU time", (l) => lasting(l.cpu_seconds.total), "n"]]), (d) => d.process.loops],
  [new Table(at("open"), "Open connections", [["protocol", (o) => o.protocol], ["open", (o) => count(o.connections), "n"]]), (d) => d.open],
  [new Table(at("connections"), "Connections over TLS", [["protocol", (c) => c.protocol], ["TLS", (c) => c.version],
    ["per second", (c) => number(c.per_second), "n"], ["total", (c) => count(c.total), "n"]]), (d) => d.connections],
  [new Table(at("certificates"), "Certificates", [["name", (c) => c.name], ["file", (c) => c.file], ["ends", (c) => c.ends.slice(0, 10)],
    ["days left", (c) => warn(c.days < 0 ? "ended" : number(Math.floor(c.days)), c.days < 14), "n"]]), (d) => d.certificates],
];

function logRows({ log }) {
  const lost = Object.entries(log.dropped).map(([reason, c]) => [`dropped: ${reason}`, number(c.per_second), warn(count(c.total), true)]);
  return [["emitted", number(log.emitted.per_second), count(log.emitted.total)],
    ["written", number(log.written.per_second), count(log.written.total)], ...lost,
    ["waiting", "", count(log.waiting)], ["held in requests", "", count(log.held)],
    ["held, then discarded", number(log.discarded.per_second), count(log.discarded.total)],
    ["bytes", bytes(log.bytes.per_second), bytes(log.bytes.total)], ["errors of files", number(log.file_errors.per_second), count(log.file_errors.total)],
    ["longest write", "", seconds(log.longest_write_seconds)], ["share of the CPU time", "", percent(log.cpu_share)]];
}

// waits returns the places where a request can wait: [text, waiting requests, their maximum].
function waits(d) {
  const queues = (d.limits ?? []).filter((l) => l.limit === "queue").map((l) => [`the queue of in_flight of ${l.route}`, l.in_use, l.value]);
  const servers = (d.upstreams ?? []).flatMap((u) => [[`a free place at ${u.upstream}`, u.queued, 0], [`a connection to ${u.upstream}`, u.waiting, 0]]);
  return [...queues, ...servers.filter(([, waiting]) => waiting > 0)];
}

function processRows({ process: p }) {
  return [["goroutines", count(p.goroutines)], ["open files", `${count(p.open_files)} of ${count(p.max_files)}`],
    ["heap", bytes(p.heap_bytes)], ["resident memory", bytes(p.resident_bytes)],
    ["garbage collections per second", number(p.gc_cycles.per_second)],
    ["pauses of the collector per second", seconds(p.gc_pause_seconds.per_second)], ["CPU time", lasting(p.cpu_seconds.total)]];
}

const now = new List(at("now"));
const request = new Request(at("request"));
const failures = new Failures(at("failures"), at("failed"), (traceID) => request.open(traceID));
const tail = new Tail({
  form: at("tail"), where: at("where"), button: at("follow"), error: at("mistake"), status: at("followed"), list: at("lines"),
}, (traceID) => request.open(traceID));

function showNow(d) {
  const { requests: r } = d;
  const failed = r.classes["5xx"]?.per_second ?? 0;
  const lost = sum(d.log.dropped, (c) => c.total);
  const ends = d.certificates?.[0]?.days;
  now.fill([["requests per second", number(r.per_second)], ["5xx", warn(percent(r.per_second ? failed / r.per_second : 0), failed > 0)],
    ["p99", atMost(r.p99)], ["in flight", count(r.in_flight)], ["requests", count(r.total)], ["events lost", warn(count(lost), lost > 0)],
    ["processors", number(d.process.cpu_seconds.per_second)],
    ["certificate", ends == null ? "none" : warn(ends < 0 ? "ended" : `${Math.floor(ends)} days`, ends < 14)]]);
}

// announce changes a text that a screen reader reads aloud, so only if it differs.
function announce(id, text) {
  if (at(id).textContent !== text) {
    at(id).textContent = text;
  }
}

const KEPT = 60; // seconds that a problem stays after its end, so that one of a single second can be read
const seen = new Map(); // problems: the text without its numbers and last error, and [text, the time of the last snapshot with it]

function showProblems(list, now) {
  const kind = (text) => text.split("; its last error: ")[0].replace(/(^|\s)[\d.,]+(?=\s|$)/g, "$1n");
  list.forEach((text) => seen.set(kind(text), [text, now]));
  const ended = [];
  for (const [key, [text, last]] of seen) {
    const ago = Math.round((now - last) / 1000);
    if (ago > KEPT) {
      seen.delete(key);
    } else if (last < now) {
      ended.push(element("li", { class: "ended" }, `${visible(text)} – ended ${lasting(ago)} ago`));
    }
  }
  announce("count", list.length === 0 ? "none now" : list.length === 1 ? "1 problem" : `${list.length} problems`);
  at("problems").replaceChildren(...(list.length + ended.length === 0 ? []
    : [element("div", { class: "warnings" }, element("ul", {}, ...list.map((p) => element("li", {}, visible(p))), ...ended))]));
}

function show(d) {
  announce("state", d.draining ? "draining" : "ready");
  at("about").textContent = `· ${d.version} · ${location.host} · up ${lasting((Date.parse(d.at) - Date.parse(d.started)) / 1000)}`;
  document.title = `Weir · ${number(d.requests.per_second)}/s`;
  showProblems(d.problems ?? [], Date.parse(d.at));
  showNow(d);
  charts.forEach((c) => c.add(d));
  drain.add(d.writable, servers(d));
  tables.forEach(([table, rows]) => table.fill(rows(d) ?? []));
  failures.add(d);
}

let source = null;

function connect() {
  source?.close();
  source = null;
  if (document.hidden) {
    tail.pause();
    return;
  }
  source = new EventSource("/events");
  source.addEventListener("message", (event) => show(JSON.parse(event.data)));
  source.addEventListener("error", () => {
    announce("state", "not connected; trying again");
    if (source.readyState === EventSource.CLOSED) { // refused: there are too many viewers, or the process ends
      setTimeout(connect, 2000);
    }
  });
}

document.addEventListener("visibilitychange", connect);
connect();
