// The latency of requests over time: a column for each second, a row for each bucket of the histogram.

import { frame, labelTime, lastMinutes, tickLabels } from "./chart.js";
import { Table, element } from "./tables.js";
import { atMost, clock, count, seconds } from "./text.js";

const TABLED = 10; // rows of the table
const FAINTEST = 0.15; // opacity of one request

export class Heatmap {
  // quantile returns the text of a p50 or p99.
  constructor(figure, { axis = lastMinutes, quantile = atMost } = {}) {
    Object.assign(this, { axis, quantile, columns: [] });
    this.canvas = element("canvas", { role: "img", class: "c1" });
    const title = "Latency";
    Object.assign(this, frame(figure, title,
      "The darker a field, the more requests ended in that second after that time.", [], this.canvas));
    this.table = new Table(this.place, title, [["time", (c) => clock(c.at)], ["requests", (c) => count(c.requests), "n"],
      ["half of them", (c) => quantile(c.p50), "n"], ["99% of them", (c) => quantile(c.p99), "n"]]);
    this.details.addEventListener("toggle", () => this.fillTable());
  }

  // add draws another snapshot, unless more are added at once.
  add(snapshot, more = false) {
    const { latency, p50, p99 } = snapshot.requests;
    const at = Date.parse(snapshot.at);
    const counts = latency ?? [];
    this.columns.push({ at, counts, p50, p99, requests: counts.reduce((a, b) => a + b, 0) });
    if (more) {
      return;
    }
    this.columns = this.columns.filter((c) => c.at >= this.axis.start(at));
    if (snapshot.latency_bounds) {
      this.label(snapshot.latency_bounds);
      this.draw(at, snapshot.latency_bounds.length + 1);
    }
    this.canvas.setAttribute("aria-label",
      `Latency, now: half of the requests ${this.quantile(p50)}, 99% ${this.quantile(p99)}`);
    this.fillTable();
  }

  label(bounds) {
    const rows = bounds.length + 1;
    const round = bounds.map((bound, i) => [1 - (i + 1) / rows, seconds(bound), bound]);
    tickLabels(this.beside, round.filter(([, , bound]) => [0.001, 0.01, 0.1, 1, 10].includes(bound)));
  }

  draw(now, rows) {
    const start = this.axis.start(now);
    labelTime(this.below, this.axis.labels(now));
    this.canvas.width = this.axis.span(now);
    this.canvas.height = rows; // also clears it
    const brush = this.canvas.getContext("2d");
    brush.fillStyle = getComputedStyle(this.canvas).color;
    const most = Math.max(1, ...this.columns.flatMap((c) => c.counts));
    for (const c of this.columns) {
      const x = Math.round((c.at - start) / 1000) - 1;
      c.counts.forEach((n, row) => {
        if (n > 0) {
          brush.globalAlpha = FAINTEST + (1 - FAINTEST) * (Math.log1p(n) / Math.log1p(most));
          brush.fillRect(x, rows - 1 - row, 1, 1);
        }
      });
    }
  }

  fillTable() {
    if (this.details.open) {
      this.table.fill(this.columns.slice(-TABLED).reverse());
    }
  }
}
