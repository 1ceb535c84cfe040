'use strict'
// Escapes in JSON text, and the error texts of values that cannot be encoded.

// JSON.stringify leaves characters unescaped that steer a terminal, and escapes half of a surrogate pair by its code.
// An escaped backslash matches too, so that a "ud800" after it is not mistaken for an escape.
const SPECIAL = /\\[^u]|\\ud[89a-f]..|[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

// escapeSpecial returns JSON, of one or of many lines, with the escapes of the event format. It changes nothing in text
// that has them.
function escapeSpecial(json) {
  if (Buffer.byteLength(json) === json.length && isPlain(json)) return json
  return json.replace(SPECIAL, (match) => {
    if (match[0] !== '\\') return '\\u' + match.charCodeAt(0).toString(16).padStart(4, '0')
    return match[1] === 'u' ? '\\ufffd' : match
  })
}

// replaceInvalid returns escaped text with something in place of each escape of a lone surrogate.
function replaceInvalid(escaped, by) { return escaped.replace(/\\(?:ufffd|.)/g, (match) => match === '\\ufffd' ? by : match) }

// isPlain reports whether JSON in ASCII needs no escape. It is fast, and may be false for text that needs none.
function isPlain(ascii) { return !ascii.includes('\x7f') && !ascii.includes('\\ud') }

// quote returns a string as JSON. Of a long one it encodes the beginning: the line will be cut below maxBytes anyway.
function quote(string, maxBytes) {
  return JSON.stringify(string.length > maxBytes ? string.slice(0, maxBytes + 1) : string)
}

// A directive of console.log and of other loggers, which the text of an argument replaces.
const directive = /%[sdifjoOc]/

const noText = 'an error without a text'

// textOf returns a thrown value as a string. It never throws.
function textOf(thrown) {
  try {
    if (typeof thrown !== 'object' || thrown === null) return String(thrown)
    if (typeof thrown.message === 'string') return thrown.message
    const text = String(thrown)
    return /\[object \w+\]$/.test(text) ? noText : text
  } catch {
    return noText
  }
}

const longestReason = 256

// failure returns the JSON string in place of a value that cannot be encoded.
function failure(thrown) {
  return JSON.stringify('!ERROR: ' + textOf(thrown).slice(0, longestReason))
}

module.exports = { directive, escapeSpecial, isPlain, noText, quote, replaceInvalid, textOf, failure }
