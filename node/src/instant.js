'use strict'
// Times as RFC 3339 in UTC, with nanoseconds.

const { performance } = require('node:perf_hooks')

const badYear = '!ERROR: year outside of 0 to 9999'

// Three digits, and three digits without trailing zeros, each also with a point before them.
const digits = Array.from({ length: 1000 }, (_, n) => String(n).padStart(3, '0'))
const trimmed = digits.map((d) => d.replace(/0+$/, ''))
const pointDigits = digits.map((d) => '.' + d)
const pointTrimmed = trimmed.map((d) => d && '.' + d)

// fraction returns a point and the digits of nanoseconds below one second, without trailing zeros; '' for 0.
function fraction(nanoseconds) {
  const milli = Math.floor(nanoseconds / 1e6)
  const micro = Math.floor(nanoseconds / 1e3) % 1000
  const nano = nanoseconds % 1000
  if (nano !== 0) return pointDigits[milli] + digits[micro] + trimmed[nano]
  return micro !== 0 ? pointDigits[milli] + trimmed[micro] : pointTrimmed[milli]
}

// secondText returns the time of a whole second without a zone, or null if RFC 3339 has no such year.
function secondText(second) {
  const date = new Date(second * 1000)
  if (Number.isNaN(date.getTime())) return null
  const text = date.toISOString()
  return text.length === 24 ? text.slice(0, 19) : null // longer: the year has six digits and a sign
}

// instantOf returns the text of a Date, or of an object with epochNanoseconds, a BigInt, such as Temporal.Instant.
function instantOf(time) {
  if (time instanceof Date) {
    const ms = time.getTime()
    if (Number.isNaN(ms)) return '!ERROR: invalid date'
    return join(Math.floor(ms / 1000), (ms - Math.floor(ms / 1000) * 1000) * 1e6)
  }
  const ns = time.epochNanoseconds
  const rest = ((ns % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n
  return join(Number((ns - rest) / 1_000_000_000n), Number(rest))
}

function join(second, nanoseconds) {
  const text = secondText(second)
  return text === null ? badYear : text + fraction(nanoseconds) + 'Z'
}

function isInstant(value) {
  return value instanceof Date || typeof value.epochNanoseconds === 'bigint'
}

// The wall clock has milliseconds, the monotonic clock has nanoseconds. The second that has begun is known as a time of
// the monotonic clock. Once a second, and when the monotonic clock has left that second, both are compared: the result
// stays within the millisecond of the wall clock, which may be slewed or set.
let second = 0
let secondBegan = -Infinity // by performance.now()
let text = '' // of second
let member = '' // the same as the beginning of an event

const createdAt = '{"created_at":"'

// now returns the present time.
function now() {
  const nanoseconds = ofSecond()
  return text + (fraction(nanoseconds) + 'Z')
}

// createdNow returns the beginning of an event up to the closing quote of created_at. Few and long strings are joined,
// because each of them costs time when the line is copied.
function createdNow() {
  const nanoseconds = ofSecond()
  return member + (fraction(nanoseconds) + 'Z"')
}

// ofSecond returns the nanoseconds since the beginning of second, which it updates.
function ofSecond() {
  const t = performance.now()
  const ms = t - secondBegan
  if (ms >= 0 && ms < 1000) return Math.floor(ms * 1e6)
  resynchronise(t)
  return Math.floor((t - secondBegan) * 1e6)
}

function resynchronise(t) {
  const wall = Date.now()
  const expected = second === 0 ? performance.timeOrigin + t : second * 1000 + (t - secondBegan)
  const ms = Math.min(Math.max(expected, wall), wall + 0.999999)
  second = Math.floor(ms / 1000)
  secondBegan = t - (ms - second * 1000)
  text = secondText(second)
  member = createdAt + text
}

// createdAtTime is createdNow for a time as text.
function createdAtTime(time) { return createdAt + time + '"' }

module.exports = { now, createdNow, createdAtTime, instantOf, isInstant }
