'use strict'
// The http object of an event, and how it is read from a request and its response.

const { ClientRequest, IncomingMessage, ServerResponse } = require('node:http')

const { isInstant, instantOf } = require('./instant.js')

const text = (value) => typeof value === 'string' && value !== '' ? value : undefined
const time = (value) => typeof value === 'object' && value !== null && isInstant(value) ? instantOf(value) : text(value)

// The numbers of the format are integers of 64 bits.
const greatest = 2n ** 63n - 1n
const least = -(2n ** 63n)

// count returns a number within these bounds without its fraction, or undefined for 0 and for anything else.
function count(value) {
  if (typeof value !== 'bigint' && !Number.isFinite(value)) return undefined
  if (value >= greatest) return greatest
  if (value <= least) return least
  return (typeof value === 'bigint' ? value : Math.trunc(value)) || undefined
}

// encodeHTTP returns http as JSON. fields is a FieldEncoder without secrets.
function encodeHTTP(http, fields, secrets) {
  const query = text(http.query)
  const referer = text(http.referer)
  const object = { // all keys in their order; those that are undefined are not written
    status_code: count(http.status_code) ?? 0,
    method: text(http.method),
    scheme: text(http.scheme),
    host: text(http.host),
    port: count(http.port),
    path: text(http.path),
    query: secrets !== null && query !== undefined ? secrets.query(query) : query,
    started_at: time(http.started_at),
    ended_at: time(http.ended_at),
    duration: count(http.duration),
    response_content_length: count(http.response_content_length),
    route: text(http.route),
    client: text(http.client),
    protocol: text(http.protocol),
    user_agent: text(http.user_agent),
    referer: secrets !== null && referer !== undefined ? secrets.url(referer) : referer,
    request_content_length: count(http.request_content_length)
  }
  return isBig(object.duration) || isBig(object.response_content_length) || isBig(object.request_content_length) ||
    isBig(object.status_code) || isBig(object.port) ? fields.object(object) : JSON.stringify(object)
}

// isBig reports whether JSON.stringify may encode a number in another way, or throw.
function isBig(value) { return typeof value === 'bigint' }

// requestOf returns the http object of a request of node:http or node:http2, also if it is one of Express, Fastify or
// Koa. With a response it has the status and the length that were sent or will be.
function requestOf(request, response) {
  const http = targetOf(request)
  addCaller(http, request)
  http.route = routeOf(request)
  const raw = response?.raw ?? response?.res ?? response
  if (raw !== undefined) {
    http.status_code = raw.headersSent ? raw.statusCode : 0
    http.response_content_length = Number(raw.getHeader('content-length') ?? 0)
  }
  return http
}

// messageOf returns the http object of a request or response of a server or client, or undefined for another value.
// Their properties have the header, also as text, and so the secrets of it.
function messageOf(value) {
  if (value instanceof IncomingMessage) return value.method ? requestOf(value) : { status_code: value.statusCode }
  if (value instanceof ServerResponse) return { status_code: value.headersSent ? value.statusCode : 0 }
  if (!(value instanceof ClientRequest)) return undefined
  const mark = value.path.indexOf('?')
  return {
    method: value.method,
    scheme: value.protocol.slice(0, -1),
    host: value.host,
    path: mark < 0 ? value.path : value.path.slice(0, mark),
    query: mark < 0 ? '' : value.path.slice(mark + 1)
  }
}

// rawOf returns the request of Node in a request of a framework.
function rawOf(request) { return request.raw ?? request.req ?? request }

// The request target of a client that takes the server for a proxy (RFC 9112, 3.2.2). Its authority replaces Host.
const absoluteForm = /^https?:\/\/([^/?]*)(.*)$/i

// targetOf returns the fields of the request line and Host.
function targetOf(request) {
  const raw = rawOf(request)
  const whole = raw.originalUrl ?? raw.url ?? ''
  const [, authority, url = whole] = whole.startsWith('/') ? [] : absoluteForm.exec(whole) ?? []
  const mark = url.indexOf('?')
  const http = {
    method: raw.method,
    scheme: raw.socket?.encrypted ? 'https' : 'http',
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? '' : url.slice(mark + 1)
  }
  return Object.assign(http, splitHost(authority ?? raw.headers.host ?? raw.headers[':authority'] ?? ''))
}

// addCaller adds the fields of the client and its headers.
function addCaller(http, request) {
  const raw = rawOf(request)
  http.client = raw.socket?.remoteAddress
  http.protocol = 'HTTP/' + raw.httpVersion
  http.user_agent = raw.headers['user-agent']
  http.referer = raw.headers.referer
  http.request_content_length = Number(raw.headers['content-length'] ?? 0)
}

// routeOf returns the pattern that a framework has matched: Express, Fastify, and Koa with @koa/router.
function routeOf(request) {
  if (request.routeOptions !== undefined) return request.routeOptions.url
  if (request._matchedRoute !== undefined) return String(request._matchedRoute)
  return request.route?.path !== undefined ? (request.baseUrl ?? '') + request.route.path : undefined
}

// splitHost splits "name:80" and "[::1]:80". It returns anything else unchanged, so that the event shows it.
function splitHost(host) {
  const [, bracketed, name, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d*))?$/.exec(host) ?? []
  if (bracketed === undefined && name === undefined || Number(port ?? 0) > 65535) return { host }
  return { host: bracketed ?? name, port: Number(port ?? 0) }
}

module.exports = { encodeHTTP, messageOf, requestOf, targetOf, addCaller, routeOf, rawOf }
