'use strict'
// Trace ids: of the request in which an event is logged, or of the active span of OpenTelemetry.

const { AsyncLocalStorage } = require('node:async_hooks')
const { randomBytes } = require('node:crypto')

// The request that is being handled, as { id, text, hold }: its trace id, that as members of an event, and what holds its
// events, if they are held. Null until the first middleware is made.
let requests = null

function useRequests() {
  requests ??= new AsyncLocalStorage()
  return requests
}

// The requests, as above, by the requests and responses of Node that belong to them.
const bound = new WeakMap()

// bindEvents calls the listeners of a request or response of Node as a part of a request, given as above. Node calls them
// in the context of their connection when a part of the body arrives, or when the client disconnects.
function bindEvents(emitter, request) {
  const isBound = bound.has(emitter) // by a middleware outside of the caller
  bound.set(emitter, request)
  if (isBound) return
  const { emit } = emitter
  emitter.emit = function (...args) { return requests.run(bound.get(emitter), () => emit.apply(this, args)) }
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

// currentHold returns what holds the events of the request, or undefined.
function currentHold() { return requests === null ? undefined : requests.getStore()?.hold }

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
    api ??= loadAPI()
    const span = api.trace.getActiveSpan()?.spanContext()
    return span !== undefined && api.isSpanContextValid(span) ? span : undefined
  } catch {
    return undefined // a span or a context manager that fails does not stop the log
  }
}

function loadAPI() {
  try {
    return require('@opentelemetry/api')
  } catch (error) {
    api = null // it was loaded by a package that has a copy of its own
    throw error
  }
}

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const idLength = 16

// idOf returns the trace id of a request by its headers: the trace-id of a valid traceparent (W3C Trace Context, version
// 00), else a plain X-Request-Id, else random letters. If a front door has made the traceparent of the X-Request-Id, the
// id is the latter, as in the events of that door.
function idOf({ traceparent, 'x-request-id': given }) {
  const { id } = parentOf(traceparent)
  const isValid = id !== undefined
  const isPlain = typeof given === 'string' && /^[!-~]{1,128}$/.test(given) && !/["',\\]/.test(given)
  if (isPlain && (!isValid || isMadeOf(id, given))) return given
  if (isValid) return id
  return Array.from(randomBytes(idLength), (byte) => letters[byte % letters.length]).join('')
}

// parentOf returns the trace-id and the flags of a traceparent, or neither if it is not valid.
function parentOf(traceparent) {
  const [, version, id, parent, flags] = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent) ?? []
  return id !== undefined && version !== 'ff' && /[^0]/.test(id) && /[^0]/.test(parent) ? { id, flags } : {}
}

// isSampled reports whether a request has a valid traceparent with the flag "sampled".
function isSampled({ traceparent }) {
  const { flags } = parentOf(traceparent)
  return flags !== undefined && (parseInt(flags, 16) & 1) === 1
}

// isMadeOf reports whether a front door has made a trace-id of a request id.
function isMadeOf(traceID, requestID) { return w3cOf(requestID) === traceID }

// w3cOf returns the trace-id that a front door makes of an id: the id itself, the digits of 16 characters, or the hash
// FNV-1a of 128 bits.
function w3cOf(id) {
  if (/^[0-9a-f]{32}$/.test(id) && /[^0]/.test(id)) return id
  const bytes = Buffer.from(id)
  if (bytes.length === idLength) return bytes.toString('hex')
  let hash = 0x6c62272e07bb014262b821756295c58dn
  for (const byte of bytes) hash = BigInt.asUintN(128, (hash ^ BigInt(byte)) * 0x1000000000000000000013bn)
  return hash.toString(16).padStart(32, '0')
}

// fraction returns a number in [0, 1) by which a share of all trace ids can be chosen: the same as traceid.Fraction for Go.
function fraction(id) {
  let h = BigInt('0x' + w3cOf(id).slice(16))
  h = BigInt.asUintN(64, (h ^ h >> 33n) * 0xff51afd7ed558ccdn)
  h = BigInt.asUintN(64, (h ^ h >> 33n) * 0xc4ceb9fe1a85ec53n)
  return Number((h ^ h >> 33n) >> 11n) / 2 ** 53
}

module.exports = { bindEvents, currentHold, currentIds, fraction, idMembers, idOf, isSampled, traceId, useRequests }
