'use strict'
// Encodes the fields of a caller. They may be anything; nothing that they do throws.

const { types } = require('node:util')

const { isError } = require('./errors.js')
const { encodeHTTP, messageOf } = require('./http.js')
const { instantOf, isInstant } = require('./instant.js')
const { redacted } = require('./secrets.js')
const { failure, quote, textOf } = require('./text.js')

const deepest = 100 // levels of objects in each other

// An event may have this many times the bytes of a line, so that a huge object costs little before it is cut.
const roomPerLine = 16

const secretValue = JSON.stringify(redacted)

class FieldEncoder {
  #maxBytes
  #secrets // null: none
  #room = 0 // characters that are left for the event
  #open = [] // the objects around the value, to find cycles

  constructor(maxBytes, secrets) {
    this.#maxBytes = maxBytes
    this.#secrets = secrets
  }

  // object returns fields as a JSON object. It adds the errors among them to errors, if that is an array. The field of an
  // error is its message then, and the field err of pino and bunyan is left out.
  object(fields, errors) {
    try {
      if (this.#isSimple(fields)) {
        const json = JSON.stringify(fields)
        if (json.startsWith('{')) return json // a Proxy may be an array then
      }
    } catch {
      // A getter may throw, or return another value than before.
    }
    const [open, room] = [this.#open, this.#room] // of another event, if one of its values logs this event
    this.#open = []
    this.#room = roomPerLine * this.#maxBytes
    try {
      return this.#top(fields, errors)
    } catch (error) {
      return '{"error":' + failure(error) + '}'
    } finally {
      this.#open = open
      this.#room = room
    }
  }

  // urlText returns a URL or URLSearchParams as text, without secrets, and undefined for any other value.
  urlText(value) {
    try {
      return isURL(value) ? this.#url(value) : undefined
    } catch {
      return undefined // a revoked Proxy
    }
  }

  // #isSimple reports whether JSON.stringify encodes fields as the event format does: a plain object of short strings,
  // booleans, numbers that JSON has, and null.
  #isSimple(fields) {
    if (Object.getPrototypeOf(fields) !== Object.prototype || fields.toJSON !== undefined) return false
    const maxBytes = this.#maxBytes
    const secrets = this.#secrets
    for (const key in fields) {
      const value = fields[key]
      switch (typeof value) {
        case 'string':
          if (value.length > maxBytes) return false
          break
        case 'number':
          if (value - value !== 0 || (value === 0 && 1 / value < 0)) return false
          break
        case 'boolean':
        case 'undefined':
          break
        default:
          if (value !== null) return false
      }
      if (secrets !== null && secrets.has(key)) return false
    }
    return true
  }

  // #top returns an object for any value. One that has no members is the field "value".
  #top(fields, errors) {
    const prototype = Object.getPrototypeOf(fields)
    const hasMembers = Array.isArray(fields) || prototype === null || prototype === Object.prototype || fields instanceof Map
    if (hasMembers && typeof fields.toJSON !== 'function') return '{' + this.#members(fields, errors) + '}'
    const text = this.#value(fields)
    if (text === undefined) return '{}'
    return text.startsWith('{') ? text : '{"value":' + text + '}'
  }

  #members(object, errors) {
    let text = ''
    const add = (key, read) => {
      this.#room -= key.length + 1
      const value = this.#secrets !== null && this.#secrets.has(key) ? secretValue : this.#read(read, key, errors)
      if (value !== undefined) text += (text === '' ? '' : ',') + quote(key, this.#maxBytes) + ':' + value
      return this.#room >= 0
    }
    if (object instanceof Map || isListOfPairs(object)) {
      for (const [key, value] of object) if (!add(this.#key(key), () => value)) break
    } else {
      for (const key of Object.keys(object)) if (!add(key, () => object[key])) break
    }
    return text
  }

  // #key returns the key of a Map as text: JSON, if it is an object.
  #key(key) {
    if (typeof key !== 'object' || key === null) return typeof key === 'string' ? key : textOf(key)
    const text = this.#read(() => key)
    return text?.startsWith('"') ? JSON.parse(text) : text ?? 'undefined'
  }

  // #read returns the JSON of what read returns, or undefined for undefined. See object for errors.
  #read(read, key, errors) {
    const depth = this.#open.length
    try {
      if (this.#room < 0) return failure('the event is too large')
      const value = read()
      if (errors !== undefined && isError(value)) {
        errors.push(value)
        if (key === 'err') return undefined
      }
      const text = this.#value(value)
      if (text !== undefined) this.#room -= text.length
      return text
    } catch (error) {
      this.#open.length = depth
      return failure(error)
    }
  }

  #value(value) {
    switch (typeof value) {
      case 'string': return quote(value, this.#maxBytes)
      case 'number': return number(value)
      case 'boolean': return value ? 'true' : 'false'
      case 'bigint': return value.toString()
      case 'undefined': return undefined
      case 'object': return value === null ? 'null' : this.#object(value)
      default: return failure(`a ${typeof value} has no text`)
    }
  }

  #object(value) {
    if (isURL(value)) return quote(this.#url(value), this.#maxBytes)
    if (isInstant(value)) return JSON.stringify(instantOf(value))
    if (value instanceof Uint8Array) return JSON.stringify(this.#base64(value))
    if (value instanceof ArrayBuffer) return JSON.stringify(this.#base64(new Uint8Array(value)))
    if (types.isNativeError(value) || value instanceof Error) return quote(textOf(value), this.#maxBytes)
    if (types.isBoxedPrimitive(value)) return this.#value(value.valueOf())
    if (value instanceof RegExp) return quote(String(value), this.#maxBytes)
    if (this.#open.includes(value)) return failure('a cycle')
    if (this.#open.length === deepest) return failure(`more than ${deepest} objects in each other`)
    this.#open.push(value)
    const text = this.#nested(value)
    this.#open.pop()
    return text
  }

  #nested(value) {
    if (typeof value.toJSON === 'function') return this.#value(value.toJSON())
    const http = isPlain(value) ? undefined : messageOf(value)
    if (http !== undefined) return encodeHTTP(http, this, this.#secrets)
    if (Array.isArray(value)) return this.#elements(value.length, (i) => value[i])
    if (value instanceof Set) {
      const elements = [...value]
      return this.#elements(elements.length, (i) => elements[i])
    }
    if (ArrayBuffer.isView(value) && 'length' in value) return this.#elements(value.length, (i) => value[i])
    return '{' + this.#members(value) + '}'
  }

  #elements(length, element) {
    let text = ''
    for (let i = 0; i < length && this.#room >= 0; i++) {
      this.#room -= ',null'.length
      text += (i === 0 ? '' : ',') + (this.#read(() => element(i)) ?? 'null')
    }
    return '[' + text + ']'
  }

  // #url returns a URL or URLSearchParams as text.
  #url(value) {
    const text = String(value)
    if (this.#secrets === null) return text
    return value instanceof URL ? this.#secrets.url(text) : this.#secrets.query(text)
  }

  #base64(bytes) {
    const some = bytes.subarray(0, this.#maxBytes) // the line will be cut below that
    return Buffer.from(some.buffer, some.byteOffset, some.byteLength).toString('base64')
  }
}

// isPlain reports whether an object is of no class, as most are. It saves looking for the others.
function isPlain(object) { return Object.getPrototypeOf(object) === Object.prototype }

// isListOfPairs reports whether an object is the Headers or the FormData of fetch.
function isListOfPairs(object) {
  const tag = isPlain(object) ? '' : object[Symbol.toStringTag]
  return (tag === 'Headers' || tag === 'FormData') && typeof object[Symbol.iterator] === 'function'
}

function isURL(value) { return value instanceof URL || value instanceof URLSearchParams }

// number returns a number as encoding/json of Go does, which differs from JSON.stringify in -0 and in numbers that JSON
// does not have.
function number(value) {
  if (Number.isFinite(value)) return Object.is(value, -0) ? '-0' : String(value)
  return Number.isNaN(value) ? '"NaN"' : value > 0 ? '"+Inf"' : '"-Inf"'
}

module.exports = { FieldEncoder }
