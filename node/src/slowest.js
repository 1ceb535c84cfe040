'use strict'
// Finds the slowest percent of durations while they come. Package log/slowest explains the method.

const share = 0.01
const step = 0.1
const up = Math.exp(step * (1 - share))
const down = Math.exp(-step * share)

class Percent {
  #estimate = 0

  // add adds a duration, and reports whether it is above the estimate of the durations before. The first one is not.
  add(duration) {
    const now = Math.max(1, duration)
    const isAbove = this.#estimate > 0 && now > this.#estimate
    this.#estimate = this.#estimate === 0 ? now : this.#estimate * (isAbove ? up : down)
    return isAbove
  }
}

module.exports = { Percent }
