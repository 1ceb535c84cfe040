'use strict'
// Encodes errors, with their causes and stacks.

const { types } = require('node:util')

const { noText, quote, textOf } = require('./text.js')

const mostFrames = 32
const longestChain = 32

// A frame is "at function (file:line:column)" or "at file:line:column". Without a position it is "at function (native)".
const frame = /^ +at (?:(.*?) \()?(.+?)(?::(\d+))?(?::\d+)?\)?$/

function isError(value) {
  try {
    if (typeof value !== 'object' || value === null) return false
    return Object.getPrototypeOf(value) !== Object.prototype && (value instanceof Error || types.isNativeError(value))
  } catch {
    return false // a revoked Proxy
  }
}

// encodeErrors returns the JSON objects of an error, each without its opening brace and key of the message: one, or
// several for an AggregateError. fields is the FieldEncoder for the fields of the error.
function encodeErrors(thrown, fields, maxBytes) {
  const texts = []
  add(thrown, new Set())
  return texts

  function add(thrown, seen) {
    if (texts.length >= longestChain || seen.has(thrown)) return
    seen.add(thrown)
    const joined = joinedBy(thrown)
    if (joined.length === 0 || messageText(thrown, fields) !== '') texts.push(encode(thrown, fields, maxBytes))
    for (const one of joined) add(one, seen)
  }
}

// joinedBy returns the errors of an AggregateError, but not more than a chain may have.
function joinedBy(thrown) {
  try {
    if (!isError(thrown) || !Array.isArray(thrown.errors)) return []
    return Array.prototype.slice.call(thrown.errors, 0, longestChain)
  } catch {
    return []
  }
}

function encode(thrown, fields, maxBytes) {
  const chain = chainOf(thrown)
  let frames = ''
  const data = new Pairs()
  for (const error of chain) {
    if (typeof error !== 'object' || error === null) continue
    if (isError(error)) frames = encodedFrames(error, maxBytes) || frames
    addFields(data, error)
  }
  const object = fields.object(data)
  return quote(messageOf(chain, fields), maxBytes) + (frames && ',"stack_trace":[' + frames + ']') +
    (object !== '{}' ? ',"data":' + object : '') + '}'
}

// chainOf returns an error and its causes, outermost first.
function chainOf(thrown) {
  const chain = [thrown]
  while (chain.length < longestChain) {
    const cause = isError(chain.at(-1)) ? read(chain.at(-1), 'cause') : undefined
    if (cause === undefined || cause === null || chain.includes(cause)) break
    chain.push(cause)
  }
  return chain
}

// messageOf joins the messages of a chain with colons. Many outer messages contain that of the cause.
function messageOf(chain, fields) {
  return chain.map((thrown) => messageText(thrown, fields)).reduceRight((inner, outer) => {
    if (outer === '' || inner === '' || outer.includes(inner)) return outer || inner
    return outer + ': ' + inner
  })
}

// messageText returns the message of an error or of any other thrown value. An object may have none: its properties are
// data. The secrets of a URL are replaced as in a field.
function messageText(thrown, fields) {
  const text = fields.urlText(thrown) ?? textOf(thrown)
  return text === noText ? '' : text
}

// Pairs are fields of which some may have the same key.
class Pairs extends Map {
  #pairs = []
  add(key, value) { this.#pairs.push([key, value]) }
  [Symbol.iterator]() { return this.#pairs[Symbol.iterator]() }
}

function addFields(data, error) {
  const name = read(error, 'name')
  if (typeof name === 'string' && name !== 'Error') data.add('name', name)
  const message = isError(error) ? read(error, 'message') : '' // not among the keys
  if (typeof message === 'object') data.add('message', message)
  for (const key of keysOf(error)) {
    try {
      const value = error[key]
      if (!isOwn(error, key, value)) data.add(key, value)
    } catch (failed) {
      data.add(key, { toJSON() { throw failed } })
    }
  }
}

// isOwn reports whether a property is no field of an error, because it is a part of the error itself. Libraries give the
// names another meaning too, such as errors for an object.
function isOwn(error, key, value) {
  switch (key) {
    case 'message': return typeof value === 'string' || isError(error)
    case 'name': return typeof value === 'string'
    case 'stack': return typeof value === 'string' && isError(error)
    case 'cause': return isError(error)
    case 'errors': return Array.isArray(value) && isError(error)
    default: return false
  }
}

function keysOf(object) {
  try {
    return Object.keys(object)
  } catch {
    return [] // of a Proxy
  }
}

// An error usually comes from one of few places, and parsing its stack takes most of the time of its event. These are
// the encoded frames of recent stacks.
const known = new Map()
const mostKnown = 100
const longestKnown = 8192 // characters

// encodedFrames returns the frames of an error's stack, separated by commas.
function encodedFrames(error, maxBytes) {
  const stack = read(error, 'stack')
  if (typeof stack !== 'string') return ''
  const message = textOf(error)
  const header = message === '' ? -1 : stack.indexOf(message)
  const lines = stack.slice(header < 0 ? 0 : header + message.length)
  let frames = known.get(lines)
  if (frames === undefined) {
    const isKept = lines.length <= longestKnown
    const most = isKept ? longestKnown : maxBytes // loggers with another maxBytes use the kept frames too
    frames = parseFrames(lines).map(({ file, line, function: name }) =>
      `{"file":${quote(file, most)},"line":${line},"function":${quote(name, most)}}`).join(',')
    if (known.size >= mostKnown) known.clear()
    if (isKept) known.set(lines, frames)
  }
  return frames
}

function parseFrames(lines) {
  const frames = []
  for (const line of lines.split('\n')) {
    const parts = frame.exec(line)
    if (parts === null) continue
    const [, name = '<anonymous>', file, lineNumber = '0'] = parts
    frames.push({ file: file.replace(/^file:\/\//, ''), line: Number(lineNumber), function: name })
    if (frames.length === mostFrames) break
  }
  return frames
}

// read returns a property, or undefined if reading it throws.
function read(object, key) {
  try {
    return object?.[key]
  } catch {
    return undefined
  }
}

module.exports = { encodeErrors, isError }
