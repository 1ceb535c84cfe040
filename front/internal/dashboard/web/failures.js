// The last failed requests, from /failures. Their events are as in the log.

import { Table } from "./tables.js";
import { clock, count, seconds } from "./text.js";

const errorOf = ({ data = {}, errors = [] }) =>
  [data.failure, ...errors.map((e) => e.message)].filter(Boolean).join(": ") || data.refused || "–";

const pathOf = ({ http }) => (http.query ? `${http.path}?${http.query}` : http.path);

const secondsOf = (http) => (http.duration == null ? null : http.duration / 1e9);

export class Failures {
  // press is called with the trace id that was clicked.
  constructor(place, note, press) {
    this.note = note;
    this.known = null; // the number of failures of the list that is shown
    this.table = new Table(place, "Recent failures", [["time", (e) => clock(e.created_at)], ["trace id", (e) => e.trace_id ?? "–", "", (e) => press(e.trace_id)],
      ["method", ({ http }) => http.method], ["path", pathOf], ["route", ({ http }) => http.route ?? "none"],
      ["status", ({ http }) => String(http.status_code ?? "–"), "n"], ["upstream", ({ data }) => data?.proxy_name ?? "–"],
      ["server", ({ data }) => data?.destination ?? "–"], ["error", errorOf],
      ["took", ({ http }) => seconds(secondsOf(http)), "n"]]);
    this.table.fill([]);
  }

  // add gets the list if a snapshot has more failures.
  async add(snapshot) {
    if (snapshot.failed === this.known) {
      return;
    }
    const before = this.known;
    this.known = snapshot.failed;
    try {
      const response = await fetch("/failures");
      this.show(await response.json());
    } catch {
      this.known = before; // the next snapshot tries again
    }
  }

  show({ failed, passed, events }) {
    this.table.fill(events);
    this.note.textContent = passed === 0 ? `${count(failed)} since the start.`
      : `${count(failed)} since the start; ${count(passed)} of them came too fast to be listed.`;
  }
}
