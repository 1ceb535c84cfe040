'use strict'
// Selects the requests that write all their events.

const { Hold } = require('./hold.js')
const { Percent } = require('./slowest.js')
const { fraction, isSampled } = require('./trace.js')

const mostRoutes = 1000 // that have a percentile of their own; more of them are made of paths

class Keep {
  #o
  #routes = new Map()
  #others = new Percent()

  constructor(options) { this.#o = options }

  hold() { return new Hold(this.#o.bytes) }

  // trusts reports whether the client of a request has decided that its events are written.
  trusts(request) { return this.#o.trust !== null && isSampled(request.headers) && Boolean(this.#o.trust(request)) }

  // selects reports whether a request is interesting. duration is in nanoseconds.
  selects({ isFailed, isTrusted, traceId, http: { duration, route } }) {
    const isSlow = this.#o.slowerThan > 0 ? duration > this.#o.slowerThan * 1e6 : this.#slowest(route ?? '').add(duration)
    return isSlow || isFailed || isTrusted || this.#o.share > 0 && fraction(traceId) < this.#o.share
  }

  #slowest(route) {
    let percent = this.#routes.get(route)
    if (percent === undefined) {
      if (this.#routes.size >= mostRoutes) return this.#others
      this.#routes.set(route, percent = new Percent())
    }
    return percent
  }
}

module.exports = { Keep }
