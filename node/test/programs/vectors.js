'use strict'
// Logs the events of vectors (testdata/vectors). As a program, it reads vectors as lines, and writes the lines of each in
// all formats as an array.
process.env.TZ = 'UTC'

const assert = require('node:assert')
const readline = require('node:readline')

const weir = require('../..')

// The keys of the lines in a vector, and their formats.
const formats = { json: 'json', json_v1: 'json-v1', ltsv: 'ltsv', human: 'human' }

// logged returns the line of a vector's event.
function logged(vector, format) {
  const lines = []
  const { namespace, max_event_bytes: maxEventBytes, redact } = vector.options
  const root = weir({
    namespace: text(namespace ?? ''), level: 'debug', format, maxEventBytes, redact, to: { write(line) { lines.push(line) } }
  })
  const log = called(called(root, vector.with ?? []).with({ created_at: instant(vector.created_at) }), vector.calls)
  log[vector.level](text(vector.event))
  assert.strictEqual(lines.length, 1)
  return lines[0]
}

// called returns a logger with the parts and fields of calls.
function called(log, calls) {
  for (const [method, ...args] of calls) {
    switch (method) {
      case 'trace_id': log = log.with({ trace_id: text(args[0]) }); break
      case 'span_id': log = log.with({ span_id: text(args[0]) }); break
      case 'auth': log = log.with({ auth: { identity: text(args[0]), identity_type: text(args[1]) } }); break
      case 'http': log = log.with({ http: http(args[0]) }); break
      case 'err': log = log.with({ errors: [error(args[0])] }); break
      default: log = log.child(fields([[method, ...args]]))
    }
  }
  return log
}

// A text may be a string, parts of one, or a repeated one.
function text(t) {
  if (typeof t === 'string') return t
  if (Array.isArray(t)) return t.map(text).join('')
  if (t.hex !== undefined) return decoded(Buffer.from(t.hex, 'hex'))
  return text(t.repeat).repeat(t.times)
}

// decoded returns UTF-8 as a string that has half of a surrogate pair for each byte that is invalid.
function decoded(bytes) {
  let string = ''
  for (let i = 0; i < bytes.length;) {
    const length = [4, 3, 2, 1].find((n) => {
      const one = bytes.toString('utf8', i, i + n)
      return [...one].length === 1 && one !== '\ufffd' && Buffer.byteLength(one) === n
    }) ?? 0
    string += length > 0 ? bytes.toString('utf8', i, i + length) : String.fromCharCode(0xdc00 + bytes[i])
    i += length || 1
  }
  return string
}

function bytes(t) {
  if (Array.isArray(t)) return Buffer.concat(t.map(bytes))
  if (typeof t === 'string') return Buffer.from(t)
  return t.hex !== undefined ? Buffer.from(t.hex, 'hex') : Buffer.concat(Array(t.times).fill(bytes(t.repeat)))
}

// instant returns a time with nanoseconds, in the form of Temporal.Instant.
function instant(t) {
  const [, second, fraction = '', zone] = /^(\d+-\d+-\d+T\d+:\d+:\d+)(?:\.(\d+))?(.+)$/.exec(t)
  const ms = Date.parse((second.startsWith('10000') ? '+0' + second : second) + zone)
  return { epochNanoseconds: BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0')) }
}

const number = (n) => Number(n)
const values = {
  str: text, bool: (v) => v, int: BigInt, uint: BigInt, dur: BigInt, float64: number, time: instant, bytes,
  hex: (v) => bytes(v).toString('hex'), null: () => null,
  fail: (reason) => ({ toJSON() { throw new Error(text(reason)) } }),
  object: fields,
  array: (calls) => [...fields(calls)].map(([, value]) => value)
}
for (const one of ['str', 'bool', 'int', 'uint', 'float64', 'dur']) values[one + 's'] = (list) => list.map(values[one])

// Fields are fields in the order of calls, in which a key may occur twice.
class Fields extends Map {
  constructor(pairs) {
    super()
    this.pairs = pairs
  }

  [Symbol.iterator]() { return this.pairs[Symbol.iterator]() }
}

function fields(calls) { return new Fields(calls.map(([method, key, value]) => [text(key), values[method](value)])) }

function http(object) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => {
    if (key.endsWith('_at')) return [key, instant(value)]
    return [key, /^(status_code|port|duration|.*_length)$/.test(key) ? BigInt(value) : text(value)]
  }))
}

function error({ message, stack = [], data = [], fails, cause, join }) {
  if (join !== undefined) return new AggregateError(join.map(error))
  const e = new Error(text(message), cause && { cause: error(cause) })
  e.stack = `Error: ${e.message}\n` + stack.map((f) => `    at ${text(f.function)} (${text(f.file)}:${f.line}:1)\n`).join('')
  Object.defineProperty(e, 'stack', { enumerable: false })
  for (const [key, value] of fields(data)) e[key] = value
  if (fails !== undefined) Object.defineProperty(e, 'error', { enumerable: true, get() { throw new Error(text(fails)) } })
  return e
}

if (require.main === module) {
  readline.createInterface({ input: process.stdin }).on('line', (line) => {
    const vector = JSON.parse(line)
    console.log(JSON.stringify(Object.values(formats).map((format) => logged(vector, format))))
  })
}

module.exports = { formats, logged }
