// The events of a run: "start" once, then others, and at last "end". After an interruption the rest follows.

// follow calls show with the events that have come together: [name, value]. names are those between start and end. When
// another run has begun at the same address, the page is loaded again. lost is called when the run cannot be reached.
export const follow = (url, names, show, lost) => {
  const source = new EventSource(url);
  let run = null;
  let waiting = [];
  const flush = () => {
    const events = waiting;
    waiting = [];
    show(events);
  };
  const receive = (event) => {
    const value = JSON.parse(event.data);
    if (event.type === "start") {
      if (run === value.run) {
        return;
      }
      if (run !== null) {
        location.reload();
      }
      run = value.run;
    }
    if (event.type === "end") {
      source.close(); // the server ends, too
    }
    if (waiting.length === 0) {
      setTimeout(flush);
    }
    waiting.push([event.type, value]);
  };
  for (const name of ["start", ...names, "end"]) {
    source.addEventListener(name, receive);
  }
  source.addEventListener("error", lost);
};
