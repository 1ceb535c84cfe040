'use strict'
// Writes the events of a request, and gives its trace id to all events that are logged while it is handled.

const { performance } = require('node:perf_hooks')

const { watchFailures } = require('./failures.js')
const { addCaller, rawOf, routeOf, targetOf } = require('./http.js')
const { now } = require('./instant.js')
const { Keep } = require('./keep.js')
const { checkLogger, readMiddlewareOptions } = require('./options.js')
const { bindEvents, currentIds, idMembers, idOf, useRequests } = require('./trace.js')

const received = 'http request received'
const completed = 'http request completed'

const statusClientGone = 499 // of nginx, for a client that disconnected before the response; it is never sent

// middleware returns a function for Express and Koa (app.use), Fastify (addHook 'onRequest'), and node:http, where the
// handler is its third argument.
function middleware(log, options = {}) {
  checkLogger(log, 'weir.middleware')
  const { events, keep: keepOptions } = readMiddlewareOptions(options)
  const keep = keepOptions === null ? null : new Keep(keepOptions)
  const requests = useRequests()
  return (first, second, third) => {
    // Koa has a context and next; Fastify has a request, a reply and done; the others a request, a response and next.
    const isKoa = third === undefined
    const request = isKoa ? first.req : first
    const response = isKoa ? first.res : second.raw ?? second
    const id = idOf(rawOf(request).headers)
    const exchange = new Exchange(log, isKoa ? first : request, response, keep)
    const hold = exchange.hold ?? requests.getStore()?.hold // of a middleware outside of this one
    const current = { id, text: idMembers(id, ''), hold }
    bindEvents(rawOf(request), current)
    bindEvents(response, current)
    return requests.run(current, () => {
      exchange.begin(currentIds(), events === 'all')
      return watchFailures(first, second, isKoa ? second : third, (error) => { exchange.failure ??= error })
    })
  }
}

// An Exchange is a request and its response.
class Exchange {
  failure // the first error of the handler, if any
  hold // undefined if the events are not held
  #log
  #request // of the framework
  #response // of Node
  #http
  #began = performance.now()
  #bytes = 0
  #ended = false
  #isDestroyed = false // by this process; only of http2
  #keep // null if the events are not held
  #isTrusted = false // the client has decided that the events are written
  #traceId = ''

  constructor(log, request, response, keep) {
    this.#log = log
    this.#request = request
    this.#response = response
    this.#http = { ...targetOf(request), started_at: now() }
    this.#keep = keep
    this.hold = keep?.hold()
  }

  begin(ids, logsReceived) {
    const { trace_id: traceId, span_id: spanId } = JSON.parse('{' + ids.slice(1) + '}')
    this.#log = this.#log.with({ trace_id: traceId, span_id: spanId })
    this.#traceId = traceId
    this.#isTrusted = this.#keep !== null && this.#keep.trusts(rawOf(this.#request))
    if (logsReceived) this.#log.with({ http: this.#http }).info(received)
    addCaller(this.#http, this.#request)
    this.#countBytes()
    if (isHTTP2(rawOf(this.#request))) this.#watchDestroy()
    this.#response.once('finish', () => this.#end(false))
    this.#response.once('close', () => this.#end(true))
  }

  // #countBytes counts the bytes of the body, because Node does not tell the length that it has sent.
  #countBytes() {
    const response = this.#response
    const { write, end } = response
    response.write = (chunk, encoding, callback) => {
      this.#count(chunk, encoding)
      return write.call(response, chunk, encoding, callback)
    }
    response.end = (chunk, encoding, callback) => {
      const before = this.#bytes
      const result = end.call(response, chunk, encoding, callback)
      if (this.#bytes === before) this.#count(chunk, encoding) // end of http2 calls write
      return result
    }
  }

  #count(chunk, encoding) {
    if (typeof chunk === 'string') this.#bytes += Buffer.byteLength(chunk, encoding)
    else if (ArrayBuffer.isView(chunk)) this.#bytes += chunk.byteLength
  }

  // #watchDestroy observes destroy of a response of http2, which does not know later who has closed its stream.
  #watchDestroy() {
    const response = this.#response
    const { destroy } = response
    response.destroy = (error) => {
      if (!response.stream.closed) {
        this.#isDestroyed = true
        this.failure ??= error
      }
      return destroy.call(response, error)
    }
  }

  #end(isClosed) {
    if (this.#ended) return
    this.#ended = true
    const request = rawOf(this.#request)
    const response = this.#response
    const isCut = isHTTP2(request) ? isStreamCut(response.stream) : isClosed && !response.writableFinished
    const isAborted = isCut && (this.#isDestroyed || isCutHere(request, response))
    const http = this.#http
    http.status_code = response.headersSent || !isCut ? response.statusCode : isAborted ? 0 : statusClientGone
    http.ended_at = now()
    http.duration = Math.round((performance.now() - this.#began) * 1e6)
    http.response_content_length = http.method === 'HEAD' ? 0 : this.#bytes
    http.route = routeOf(this.#request)
    const isFailed = isCut || response.statusCode >= 500
    const error = response.err ?? (isFailed ? this.failure ?? response.errored : null) ?? undefined
    const log = this.#log.with({ http, errors: error === undefined ? undefined : [error] })
    const fields = isCut ? { failure: isAborted ? 'aborted' : 'client_gone', cut: response.headersSent } : {}
    if (this.#keep !== null) this.#settle(isFailed, fields)
    if (isFailed) log.warn(completed, fields)
    else log.info(completed, fields)
  }

  // #settle writes or discards the held events, and adds the number of missing ones to the fields.
  #settle(isFailed, fields) {
    const keep = this.#keep
    if (!keep.selects({ isFailed, isTrusted: this.#isTrusted, traceId: this.#traceId, http: this.#http })) {
      this.hold.discard()
      return
    }
    this.hold.write()
    if (this.hold.missing > 0) fields.discarded = this.hold.missing
  }
}

function isHTTP2(request) { return request.httpVersionMajor === 2 }

// isStreamCut reports whether a stream of http2 was closed before all of the response was sent. The response emits finish
// in any case.
function isStreamCut(stream) { return stream.aborted || !stream.writableFinished }

// isCutHere reports whether this process has cut a response: by destroy(error), by a pipeline that failed, or by closing
// the connection, as Express does after an error in the middle of a response. Otherwise the client has closed or reset
// the connection, which its socket knows. That of http2 has other streams too.
function isCutHere(request, response) {
  const { socket, httpVersionMajor } = request
  return Boolean(response.errored) || httpVersionMajor === 1 && !socket.readableEnded && !socket.errored
}

module.exports = { middleware }
