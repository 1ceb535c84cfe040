'use strict'
// Observes the errors of handlers, which the frameworks turn into responses, without changing what happens to them.

const { subscribe } = require('node:diagnostics_channel')

const { isError } = require('./errors.js')
const { rawOf } = require('./http.js')

// Functions to call with the error of a request of Node, for frameworks that report errors in one place for all requests.
const observers = new WeakMap()
const observed = new WeakSet() // applications of Koa

let subscribed = false

// watchFailures calls next, and found with each error of the handlers of the request that first and second belong to:
// the arguments of a middleware.
function watchFailures(first, second, next, found) {
  const request = rawOf(first)
  observers.set(request, found)
  if (next === second) observeKoa(first.app)
  else if (second.raw !== undefined) observeFastify(second, found)
  else if (first.app !== undefined) observeExpress()
  try {
    const result = next()
    return typeof result?.then === 'function' ? result.then(undefined, failed) : result
  } catch (error) {
    return failed(error)
  }

  function failed(error) {
    found(error)
    throw error
  }
}

function report(request, error) { observers.get(request)?.(error) }

// observeKoa listens for the event of errors, also of bodies that are streams. Koa has a listener of its own before.
function observeKoa(app) {
  if (observed.has(app)) return
  observed.add(app)
  app.on('error', (error, context) => { if (context !== undefined) report(context.req, error) })
}

// observeFastify wraps send, which gets each error of handlers and hooks. A property of the reply, whose key is a symbol,
// says that they have thrown the payload, which may be any value.
function observeFastify(reply, found) {
  const { send } = reply
  const thrown = Object.getOwnPropertySymbols(reply).find((key) => key.description === 'fastify.reply.isError')
  reply.send = function (payload) {
    if (isError(payload) || this[thrown] === true) found(payload)
    else if (typeof payload?.pipe === 'function') payload.once('error', found) // Fastify handles it
    return send.call(this, payload)
  }
}

// observeExpress subscribes to the channel of Express 5 (router 2.3). Express has no other place that gets errors before the error
// handlers of the program.
function observeExpress() {
  if (subscribed) return
  subscribed = true
  subscribe('tracing:express.router.request:error', ({ req, error }) => report(req, error))
}

module.exports = { watchFailures }
