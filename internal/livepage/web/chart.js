// Charts over time.

import { Table, element } from "./tables.js";
import { clock, seconds } from "./text.js";

const WIDTH = 1000;
const HEIGHT = 140;
const GAP = 3.5; // seconds without a snapshot, after which a line is interrupted
const TABLED = 10; // rows of the table

export const svg = (name, attributes) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) {
    e.setAttribute(key, value);
  }
  return e;
};

// The axes of charts: span is the number of seconds at a time, start the time at the left end, both in milliseconds
// since 1970, and labels are six texts.

const lately = (minutes) => [`${minutes} min`, ...[4, 3, 2, 1].map((n) => `${(minutes * n) / 5}`), "now"];

// lastMinutes shows the last five minutes.
export const lastMinutes = { span: () => 300, start: (now) => now - 300e3, labels: () => lately(5) };

const LONGEST = 600; // seconds

// runAxis shows a whole run, or its last ten minutes. It is as long as the planned seconds, if there are any.
export const runAxis = (began, planned) => {
  const passed = (now) => (now - began) / 1000;
  const fits = (now) => planned > 0 && planned <= LONGEST && passed(now) <= planned + 1;
  const span = (now) => (fits(now) ? Math.ceil(planned) : [30, 60, 120, 300].find((length) => length >= passed(now)) ?? LONGEST);
  const slides = (now) => !fits(now) && passed(now) > LONGEST;
  const start = (now) => (slides(now) ? now - 1000 * LONGEST : began);
  const labels = (now) => (slides(now) ? lately(LONGEST / 60) : [0, 1, 2, 3, 4, 5].map((n) => seconds((n * span(now)) / 5)));
  return { span, start, labels };
};

// labelTime puts the labels of an axis below a figure, if they have changed.
export const labelTime = (below, labels) => {
  if (below.textContent !== labels.join("")) {
    below.replaceChildren(...labels.map((name, i) => {
      const label = element("span", { class: i === 0 ? "start" : i === 5 ? "end" : "middle" }, name);
      label.style.left = `${20 * i}%`;
      return label;
    }));
  }
};

// frame makes the parts that all figures have.
export const frame = (figure, title, help, keys, picture) => {
  const keyList = keys.map(([name, style]) => element("span", {}, element("i", { class: style }), name));
  const beside = element("div", { class: "beside", "aria-hidden": "true" });
  const below = element("div", { class: "below", "aria-hidden": "true" });
  const place = element("div", { class: "table", role: "region", "aria-label": `Values of: ${title}`, tabindex: "0" });
  const details = element("details", {}, element("summary", {}, "Values as a table"), place);
  figure.replaceChildren(
    element("figcaption", {}, element("h3", {}, title), element("p", { class: "keys" }, ...keyList)),
    element("div", { class: "plot" }, beside, picture, below),
    element("p", { class: "help" }, help), details);
  return { beside, below, details, place };
};

// tickLabels puts texts beside a figure, at shares of its height from the top.
export const tickLabels = (beside, ticks) => {
  beside.replaceChildren(...ticks.map(([top, text]) => {
    const label = element("span", {}, text);
    label.style.top = `${100 * top}%`;
    return label;
  }));
};

// round and roundBytes return a round number that is at least n.
export const roundBytes = (n) => 2 ** Math.ceil(Math.log2(n));
const round = (n) => {
  const decade = 10 ** Math.floor(Math.log10(n));
  return [1, 2, 5, 10].map((step) => step * decade).find((step) => step >= n * (1 - 1e-9));
};

// A Chart draws series: [name, CSS class, a function of a snapshot that returns a number or null].
export class Chart {
  constructor(figure, { title, help = "", series, text, roundUp = round, axis = lastMinutes }) {
    Object.assign(this, { title, series, text, roundUp, axis, points: [] });
    this.picture = svg("svg", { class: "chart", role: "img", height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none" });
    this.grid = [0, 0.5, 1].map((y) => svg("line", { class: "grid", x1: 0, x2: WIDTH, y1: y * HEIGHT, y2: y * HEIGHT, "vector-effect": "non-scaling-stroke" }));
    this.paths = series.map(([, style]) => svg("path", { class: style }));
    this.picture.append(...this.grid, ...this.paths);
    Object.assign(this, frame(figure, title, help, series.map(([name, style]) => [name, style]), this.picture));
    this.table = new Table(this.place, title, [["time", (p) => clock(p.at)],
      ...series.map(([name], i) => [name, (p) => text(p.values[i]), "n"])]);
    this.details.addEventListener("toggle", () => this.fillTable());
  }

  // add draws another snapshot, unless more are added at once.
  add(snapshot, more = false) {
    const at = Date.parse(snapshot.at);
    this.points.push({ at, values: this.series.map(([, , of]) => of(snapshot)) });
    if (!more) {
      this.points = this.points.filter((p) => p.at >= this.axis.start(at));
      this.draw(at);
      this.fillTable();
    }
  }

  draw(now) {
    const most = Math.max(0, ...this.points.flatMap((p) => p.values.filter((v) => v != null)));
    const top = most > 0 ? this.roundUp(most) : 1;
    labelTime(this.below, this.axis.labels(now));
    tickLabels(this.beside, [[0, this.text(top)], [0.5, this.text(top / 2)], [1, this.text(0)]]);
    this.series.forEach((_, i) => this.paths[i].setAttribute("d", this.path(i, now, top)));
    const values = this.points.at(-1).values;
    this.picture.setAttribute("aria-label",
      `${this.title}, now: ${this.series.map(([name], i) => `${name} ${this.text(values[i])}`).join(", ")}`);
  }

  path(i, now, top) {
    const [start, span] = [this.axis.start(now), this.axis.span(now)];
    let d = "";
    let before = -Infinity;
    for (const p of this.points) {
      if (p.values[i] == null) {
        continue;
      }
      const x = WIDTH * ((p.at - start) / (1000 * span));
      const y = HEIGHT * (1 - p.values[i] / top);
      d += `${p.at - before > 1000 * GAP ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`;
      before = p.at;
    }
    return d;
  }

  fillTable() {
    if (this.details.open) {
      this.table.fill(this.points.slice(-TABLED).reverse());
    }
  }
}
