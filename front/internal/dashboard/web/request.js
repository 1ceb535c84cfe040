// The dialog with all events of one request, from /log/events.

import { element } from "./tables.js";
import { bytes, count, visible } from "./text.js";

const text = (name, attributes, content) => element(name, attributes, visible(content, Infinity));

// describe returns a sentence about what was searched.
const describe = ({ events, why, file, searched_bytes: searched, whole }) => {
  if (why) {
    return why;
  }
  const where = whole ? `all of ${file}` : `the last ${bytes(searched)} of ${file}`;
  return `${count(events.length)} events in ${where}. Times are in UTC.`;
};

export class Request {
  constructor(dialog) {
    this.dialog = dialog;
    this.title = element("h2", { id: "request-title" });
    this.body = element("div", { role: "status" });
    const close = element("button", { type: "button" }, "Close");
    close.addEventListener("click", () => dialog.close());
    dialog.append(this.title, this.body, close);
  }

  // open shows the events of a trace id. The browser returns the focus to the button when the dialog is closed.
  async open(traceID) {
    this.title.textContent = `Events of ${visible(traceID)}`;
    this.body.replaceChildren(text("p", {}, "searching the log"));
    this.dialog.showModal();
    try {
      const response = await fetch(`/log/events?trace_id=${encodeURIComponent(traceID)}`);
      if (!response.ok) {
        throw new Error(await response.text());
      }
      this.show(await response.json());
    } catch (error) {
      this.body.replaceChildren(text("p", {}, error.message));
    }
  }

  show(found) {
    const events = element("pre", { tabindex: "0", role: "region", "aria-label": "Events" });
    events.textContent = (found.events ?? []).join("\n"); // the server has made control characters visible
    this.body.replaceChildren(text("p", {}, describe(found)));
    if (found.events?.length > 0) {
      this.body.append(events);
    }
    this.body.append(text("p", { class: "help" }, "In a terminal, also with rotated files and the logs of services:"),
      text("pre", { class: "command", tabindex: "0", role: "region", "aria-label": "Command" }, found.command));
  }
}
