// The finished runs of one metric: a lane for each configuration, with a dot for each run.

import { svg } from "./chart.js";
import { element } from "./tables.js";

const WIDTH = 1000;
const HEIGHT = 24;

export class Strip {
  constructor(figure, metric, configurations) {
    this.metric = metric;
    this.lanes = new Map();
    const list = element("div", { class: "lanes" });
    for (const { name, baseline } of configurations) {
      const picture = svg("svg", { class: "chart c1", role: "img", height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none" });
      const lane = { picture, dots: svg("path", { class: "dots" }), median: svg("path", { class: "median" }),
        text: element("span", { class: "value" }, "–"), values: [] };
      picture.setAttribute("aria-label", `${metric} of ${name}: no run yet`);
      picture.append(svg("line", { class: "grid", x1: 0, x2: WIDTH, y1: HEIGHT / 2, y2: HEIGHT / 2, "vector-effect": "non-scaling-stroke" }),
        lane.dots, lane.median);
      const label = `${name}${baseline ? " (baseline)" : ""}`;
      list.append(element("div", { class: "lane" }, element("span", { class: "name" }, label), picture, lane.text));
      this.lanes.set(name, lane);
    }
    figure.replaceChildren(element("figcaption", {}, element("h3", {}, metric)), list);
  }

  // add adds a value of a run of a configuration.
  add(configuration, value) {
    const lane = this.lanes.get(configuration);
    lane.values.push(value.value);
    lane.text.textContent = value.median;
    lane.picture.setAttribute("aria-label", `${this.metric} of ${configuration}: median ${value.median}, ${lane.values.length} runs`);
    this.draw();
  }

  draw() {
    const all = [...this.lanes.values()].flatMap((lane) => lane.values);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const x = (v) => WIDTH * (high > low ? 0.02 + (0.96 * (v - low)) / (high - low) : 0.5);
    for (const { values, dots, median } of this.lanes.values()) {
      const sorted = values.toSorted((a, b) => a - b);
      const middle = (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.floor(sorted.length / 2)]) / 2;
      dots.setAttribute("d", values.map((v) => `M${x(v).toFixed(1)} ${HEIGHT / 2}h0.1`).join(""));
      median.setAttribute("d", values.length > 0 ? `M${x(middle).toFixed(1)} 3V${HEIGHT - 3}` : "");
    }
  }
}
