'use strict'
// The counts of an output. At any time, emitted = written + dropped + waiting.

const { levels } = require('./levels.js')

class Tally {
  emitted = 0
  written = 0
  waiting = 0
  waitingBytes = 0
  highWaterBytes = 0
  bytes = 0
  diverted = 0
  lastError = null
  #dropped = new Map() // events by "level reason"

  emit(bytes) {
    this.emitted++
    this.waiting++
    this.waitingBytes += bytes
    if (this.waitingBytes > this.highWaterBytes) this.highWaterBytes = this.waitingBytes
  }

  // grow counts bytes of waiting events.
  grow(bytes) {
    this.waitingBytes += bytes
    this.highWaterBytes = Math.max(this.highWaterBytes, this.waitingBytes)
  }

  // wrote counts waiting events that were written.
  wrote(events, bytes) {
    this.written += events
    this.waiting -= events
    this.waitingBytes -= bytes
    this.bytes += bytes
  }

  // lose counts a waiting event that is dropped.
  lose(severity, bytes, reason) {
    this.waiting--
    this.waitingBytes -= bytes
    this.#count(severity, reason)
  }

  // refuse counts a new event that is dropped.
  refuse(severity, reason) {
    this.emitted++
    this.#count(severity, reason)
  }

  #count(severity, reason) {
    const key = `${severity} ${reason}`
    this.#dropped.set(key, (this.#dropped.get(key) ?? 0) + 1)
  }

  // losses returns the dropped events as { info: { full: 3 } }, the lowest level first, less those of an earlier copy of
  // the counts.
  losses(before = new Map()) {
    const losses = {}
    for (const [key, events] of [...this.#dropped].sort(([a], [b]) => b[0] - a[0] || (a < b ? -1 : 1))) {
      const more = events - (before.get(key) ?? 0)
      if (more === 0) continue
      const [severity, reason] = key.split(' ')
      losses[levels[severity]] = { ...losses[levels[severity]], [reason]: more }
    }
    return losses
  }

  copyOfDropped() { return new Map(this.#dropped) }

  get dropped() { return [...this.#dropped.values()].reduce((sum, events) => sum + events, 0) }

  snapshot() {
    const { emitted, written, waiting, waitingBytes, highWaterBytes, bytes, diverted, lastError, dropped } = this
    return { emitted, written, dropped, waiting, losses: this.losses(), waitingBytes, highWaterBytes, bytes, diverted, lastError }
  }
}

module.exports = { Tally }
