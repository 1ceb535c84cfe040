'use strict'
// Converts a line of JSON to LTSV.

const { cutPairs } = require('./cut.js')
const { replaceInvalid } = require('./text.js')
const { Members, Text, parse, unescape } = require('./tree.js')

const levels = ['Fatal', 'Error', 'Warn', 'Info', 'Debug']
const longestPath = 128 // in bytes; objects below longer keys are JSON

// The labels of the event. A key of the caller that equals one gets data. before it.
const labels = new Set(('time level namespace event trace_id span_id host method protocol uri scheme vhost port status ' +
  'size reqsize reqtime started_at ended_at ua referer route identity identity_type err stack truncated').split(' '))

function ltsv(json, maxBytes) {
  const tree = parse(json)
  const pairs = []
  const add = (label, value) => { if (value !== undefined) pairs.push([label, escape(value)]) }
  const text = (key, of = tree) => of.get(key)?.value

  add('time', microseconds(text('created_at')))
  add('level', levels[tree.get('severity').json])
  for (const key of ['namespace', 'event', 'trace_id', 'span_id']) add(key, text(key))
  if (tree.get('http') !== undefined) addHTTP(tree.get('http'))
  for (const key of ['identity', 'identity_type']) if (tree.get('auth') !== undefined) add(key, text(key, tree.get('auth')))
  addData(tree.get('data'), '')
  for (const error of tree.get('errors')?.nodes ?? []) {
    add('err', text('message', error))
    addData(error.get('data'), '')
    const frames = error.get('stack_trace')?.nodes ?? []
    if (frames.length > 0) {
      add('stack', frames.map((f) => `${text('function', f)}@${text('file', f)}:${f.get('line').json}`).join(' '))
    }
  }
  const bytes = Buffer.byteLength(line(pairs))
  return line(bytes > maxBytes ? cutPairs(pairs, bytes, maxBytes) : pairs)

  function addHTTP(http) {
    const number = (key) => http.get(key)?.json
    add('host', text('client', http))
    add('method', text('method', http))
    add('protocol', text('protocol', http))
    add('uri', uri(http) || undefined)
    add('scheme', text('scheme', http))
    add('vhost', text('host', http))
    add('port', number('port'))
    add('status', number('status_code'))
    add('size', number('response_content_length') ?? (number('status_code') === '0' ? undefined : '0'))
    add('reqsize', number('request_content_length'))
    add('reqtime', seconds(number('duration')))
    add('started_at', microseconds(text('started_at', http)))
    add('ended_at', microseconds(text('ended_at', http)))
    add('ua', text('user_agent', http))
    add('referer', text('referer', http))
    add('route', text('route', http))
  }

  function addData(data, prefix) {
    for (const [key, node] of data?.pairs ?? []) {
      const path = prefix + unescape(replaceInvalid(key, '\\u0000')) // one byte, as of invalid UTF-8
      if (isTakenApart(path, node)) {
        addData(node, path + '.')
        continue
      }
      const label = labelOf(path)
      add(labels.has(label) ? 'data.' + label : label, node instanceof Text ? node.value : node.json)
    }
  }
}

function line(pairs) { return pairs.map(([label, value]) => label + ':' + value).join('\t') + '\n' }

function uri(http) {
  const query = http.get('query')?.value
  return (http.get('path')?.value ?? '') + (query === undefined ? '' : '?' + query)
}

// isTakenApart reports whether the members of a node become fields, each with the path before its key.
function isTakenApart(path, node) {
  return node instanceof Members && node.pairs.length > 0 && Buffer.byteLength(path) <= longestPath
}

function labelOf(path) {
  return Buffer.from(path).toString('latin1').replace(/[^0-9A-Za-z_.-]/g, '_') || '_'
}

const short = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function escape(value) {
  return value.replace(/[\\\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (c) => short[c] ?? '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'))
}

// microseconds returns a time with six digits after the point.
function microseconds(instant) {
  if (instant === undefined || instant.startsWith('!')) return instant
  const [second, fraction = ''] = instant.slice(0, -1).split('.')
  return second + '.' + fraction.padEnd(6, '0').slice(0, 6) + 'Z'
}

// seconds returns nanoseconds, which may have more digits than a number of JavaScript, as seconds.
function seconds(nanoseconds) {
  if (nanoseconds === undefined) return undefined
  const n = BigInt(nanoseconds)
  const size = n < 0n ? -n : n
  return (n < 0n ? '-' : '') + size / 1_000_000_000n + '.' + String(size % 1_000_000_000n / 1000n).padStart(6, '0')
}

module.exports = { ltsv, uri, isTakenApart }
