'use strict'
// Logs the event of each vector of the project, and compares the bytes of its line in each format.

process.env.TZ = 'UTC'

const assert = require('node:assert')
const fs = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')

const weir = require('weir-log')

const folder = path.join(__dirname, '../../testdata/vectors')

// JavaScript has no strings with invalid UTF-8 and no numbers of 32 bits, cannot make up a line of a stack that contains
// a line break, and has no error with a field "message" besides its message.
const leftOut = new Set(['invalid', 'float32', 'errors: frames that are hostile', 'reserved: in the data of errors'])

const formats = { json: 'json', json_v1: 'json-v1', ltsv: 'ltsv', human: 'human' }

let compared = 0

for (const file of fs.readdirSync(folder).filter((name) => name.endsWith('.jsonl'))) {
  const subject = file.replace('.jsonl', '')
  test(`vectors: ${subject}`, { skip: leftOut.has(subject) && 'JavaScript has no such values' }, () => {
    for (const line of fs.readFileSync(path.join(folder, file), 'utf8').trim().split('\n')) {
      const vector = JSON.parse(line)
      if (leftOut.has(`${subject}: ${vector.name}`)) continue
      for (const [key, format] of Object.entries(formats)) {
        assert.strictEqual(logged(vector, format), vector[key], `${vector.name}, ${format}`)
        compared++
      }
    }
  })
}

test('vectors: most of them were compared', () => assert.ok(compared >= 4 * 369, `${compared} lines`))

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
  if (t.hex !== undefined) return Buffer.from(t.hex, 'hex').toString()
  return text(t.repeat).repeat(t.times)
}

function bytes(t) {
  if (Array.isArray(t)) return Buffer.concat(t.map(bytes))
  if (typeof t === 'object' && t.hex !== undefined) return Buffer.from(t.hex, 'hex')
  return Buffer.from(text(t))
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
