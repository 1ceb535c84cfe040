// Drain and undrain of servers, with the token of admin.token. The token is in its field, and nowhere else.

const isDrained = (server) => Object.keys(server.states).every((state) => state === "draining");
const isUsable = (server) => Object.keys(server.states).some((state) => ["usable", "starting"].includes(state));

export class Drain {
  constructor({ form, token, status }) {
    Object.assign(this, { form, token, status, servers: [], writable: false });
    form.addEventListener("submit", (event) => event.preventDefault());
    this.column = ["drain", (s) => this.cell(s), "", (s) => this.press(s)];
  }

  // add takes the servers of a snapshot: objects with upstream, server and states.
  add(writable, servers) {
    Object.assign(this, { writable, servers });
    this.form.hidden = !writable;
  }

  cell(server) {
    const text = isDrained(server) ? "Undrain" : "Drain";
    return { text, label: `${text} ${server.server} of ${server.upstream}`, hidden: !this.writable };
  }

  async press(server) {
    const verb = isDrained(server) ? "undrain" : "drain";
    if (this.token.value === "") {
      this.status.textContent = "Enter the token first.";
      this.token.focus();
      return;
    }
    const others = this.servers.some((s) => s.upstream === server.upstream && s.server !== server.server && isUsable(s));
    if (verb === "drain" && !others && !confirm(`No other server of ${server.upstream} is usable: requests will get 502. Drain it?`)) {
      return;
    }
    this.status.textContent = `${verb} ${server.server}: sent`;
    try {
      const path = `/upstreams/${encodeURIComponent(server.upstream)}/${verb}?server=${encodeURIComponent(server.server)}`;
      const response = await fetch(path, { method: "POST", headers: { Authorization: `Bearer ${this.token.value}` } });
      this.status.textContent = `${verb} ${server.server}: ${response.ok ? "done" : await response.text()}`;
    } catch (error) {
      this.status.textContent = `${verb} ${server.server}: ${error.message}`;
    }
  }
}
