'use strict'
// Trace ids: of the request in which an event is logged, or of the active span of OpenTelemetry.

const { AsyncLocalStorage } = require('node:async_hooks')
const { randomBytes } = require('node:crypto')

// The request that is being handled, as { id, text }: its trace id, and that as members of an event. Null until the
// first middleware is made.
let requests = null

function useRequests() {
  requests ??= new AsyncLocalStorage()
  return requests
}

// traceId returns the trace id of the request that is being handled, or '' outside of one.
function traceId() {
  return spanOf()?.traceId ?? requests?.getStore()?.id ?? ''
}

// currentIds returns the ids of the active span, or else of the request, as members of an event.
function currentIds() {
  const span = spanOf()
  if (span !== undefined) return idMembers(span.traceId, span.spanId)
  return requests === null ? '' : requests.getStore()?.text ?? ''
}

function idMembers(trace, span) {
  return (trace ? ',"trace_id":' + JSON.stringify(trace) : '') + (span ? ',"span_id":' + JSON.stringify(span) : '')
}

// The API of OpenTelemetry registers what it is used for here. Before that there is no span.
const registered = Symbol.for('opentelemetry.js.api.1')
let api // undefined: not needed yet; null: not installed

// spanOf returns the ids of the active span, or undefined.
function spanOf() {
  if (globalThis[registered] === undefined || api === null) return undefined
  try {
    api ??= require('@opentelemetry/api')
  } catch {
    api = null // it was loaded by a package that has a copy of its own
    return undefined
  }
  const span = api.trace.getActiveSpan()?.spanContext()
  return span !== undefined && api.isSpanContextValid(span) ? span : undefined
}

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const idLength = 16

// idOf returns the trace id of a request by its headers: the trace-id of a valid traceparent (W3C Trace Context, version
// 00), else a plain X-Request-Id, else random letters.
function idOf(headers) {
  const [, version, id, parent] = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(headers.traceparent) ?? []
  if (id !== undefined && version !== 'ff' && /[^0]/.test(id) && /[^0]/.test(parent)) return id
  const given = headers['x-request-id']
  if (typeof given === 'string' && /^[!-~]{1,128}$/.test(given) && !/["',\\]/.test(given)) return given
  return Array.from(randomBytes(idLength), (byte) => letters[byte % letters.length]).join('')
}

module.exports = { currentIds, idMembers, idOf, traceId, useRequests }
