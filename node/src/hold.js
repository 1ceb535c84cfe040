'use strict'
// Holds the events of a request until it is known whether they are worth writing.

const warn = 2

const active = new Set() // holds with events

class Hold {
  missing = 0 // events that were discarded because there were too many
  #half
  #older = []
  #newer = []
  #size = 0 // characters of newer
  #isEnded = false

  // An event is a Core, a severity and JSON. They have at most so many bytes, of which a character counts as one.
  constructor(bytes) { this.#half = bytes / 2 }

  // put holds an event, or writes it. One of warn or worse is written, after those that led to it.
  put(core, severity, json) {
    if (severity <= warn) this.write()
    if (this.#isEnded) {
      core.output.put(severity, json)
      return
    }
    if (this.#size > 0 && this.#size + json.length > this.#half) {
      this.missing += this.#older.length
      discard(this.#older)
      this.#older = this.#newer
      this.#newer = []
      this.#size = 0
    }
    this.#newer.push({ core, severity, json })
    this.#size += json.length
    core.counts.held++
    active.add(this)
  }

  // write writes the events. Later ones are written at once, because nothing would decide about them.
  write() {
    for (const { core, severity, json } of this.#end()) {
      core.counts.held--
      core.output.put(severity, json)
    }
  }

  discard() { discard(this.#end()) }

  #end() {
    const events = this.#older.concat(this.#newer)
    this.#isEnded = true
    this.#older = this.#newer = []
    active.delete(this)
    return events
  }
}

function discard(events) {
  for (const { core } of events) {
    core.counts.held--
    core.counts.discarded++
  }
}

// writeAll writes the events of all requests in flight, when the process ends.
function writeAll() { for (const hold of active) hold.write() }

module.exports = { Hold, writeAll }
