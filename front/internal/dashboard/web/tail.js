// The live tail: events of the log from /log/tail, from Start to Stop.

import { element } from "./tables.js";
import { count } from "./text.js";

const KEPT = 200; // events on the page

// batches calls take with each batch of a response, until it ends.
const batches = async (response, take) => {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const events = (rest + part.value).split("\n\n");
    rest = events.pop();
    events.forEach((event) => take(JSON.parse(event.replace(/^data: /, ""))));
  }
};

export class Tail {
  // press is called with the trace id of an event that was clicked.
  constructor({ form, where, button, error, status, list }, press) {
    Object.assign(this, { where, button, error, status, list, press, following: null });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.following ? this.stop("stopped") : this.start();
    });
  }

  async start() {
    const following = new AbortController();
    this.following = following;
    this.counts = { shown: 0, examined: 0, skipped: 0, unshown: 0, failed: 0, cause: "" };
    this.button.textContent = "Stop";
    this.error.textContent = "";
    this.list.replaceChildren();
    this.status.textContent = "connecting";
    try {
      const response = await fetch(`/log/tail?where=${encodeURIComponent(this.where.value)}`, { signal: following.signal });
      if (!response.ok) {
        this.error.textContent = await response.text();
        this.stop("not started");
        return;
      }
      await batches(response, (batch) => this.add(batch));
      this.stop("the front door has ended it");
    } catch (error) {
      if (this.following === following) { // else Stop has ended it
        this.stop(`ended: ${error.message}`);
      }
    }
  }

  stop(why) {
    this.following?.abort();
    this.following = null;
    this.button.textContent = "Start";
    this.say(why);
  }

  // pause ends a tail that nobody sees.
  pause() {
    if (this.following) {
      this.stop("stopped, because the tab was hidden");
    }
  }

  add({ events, examined, skipped, unshown, failed, cause }) {
    const c = this.counts;
    Object.assign(c, {
      shown: c.shown + events.length, examined: c.examined + examined, skipped: c.skipped + skipped,
      unshown: c.unshown + unshown, failed: c.failed + failed, cause: c.cause || cause || "",
    });
    const atEnd = this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight < 20;
    this.list.append(...events.map((event) => this.item(event)));
    while (this.list.childElementCount > KEPT) {
      this.list.firstElementChild.remove();
    }
    if (atEnd) {
      this.list.scrollTop = this.list.scrollHeight;
    }
    this.say("following");
  }

  item({ text, trace_id: traceID, bad }) {
    const line = element("p", { class: bad ? "bad" : "" }, text);
    if (traceID) {
      const b = element("button", { type: "button", class: "small" }, traceID);
      b.addEventListener("click", () => this.press(traceID));
      line.append(" ", b);
    }
    return line;
  }

  say(state) {
    const c = this.counts;
    const parts = [state, `${count(c.shown)} shown of ${count(c.examined)} events`];
    if (c.unshown > 0) {
      parts.push(`${count(c.unshown)} more would be shown, but came too fast`);
    }
    if (c.skipped > 0) {
      parts.push(`${count(c.skipped)} events skipped, because there were too many`);
    }
    if (c.failed > 0) {
      parts.push(`the condition failed for ${count(c.failed)} events: ${c.cause}`);
    }
    this.status.textContent = parts.join("; ");
  }
}
