'use strict'
// Converts a line of JSON to the human format, for terminals.

const { Text, parse, unescape } = require('./tree.js')
const { isTakenApart, uri } = require('./ltsv.js')
const { escapeSpecial, replaceInvalid } = require('./text.js')

const levels = ['FATAL', 'ERROR', 'WARN', 'INFO', 'DEBUG']

// The sixteen colours that every terminal has, by severity and by class of the status.
const levelColors = ['1;31', '31', '33', '32', '36']
const statusColors = { 2: '32', 3: '36', 4: '33', 5: '31' }
const dim = '2'

const shownTraceID = 8 // characters

// human returns the lines of an event. With color it has escapes for a terminal.
function human(json, color) {
  const tree = parse(json)
  const http = tree.get('http')
  const severity = tree.get('severity').json
  const text = (key, of = tree) => of?.get(key)?.value ?? ''
  const paint = (code, s) => color && code !== undefined ? `\x1b[${code}m${s}\x1b[0m` : s

  let data = tree.get('data')?.pairs ?? []
  const words = [
    clock(text('created_at')),
    paint(levelColors[severity], levels[severity]) + ' '.repeat(5 - levels[severity].length),
    shown(text('event'))
  ]
  if (http !== undefined) {
    const status = http.get('status_code').json
    words.push(shown(text('method', http)), shown(uri(http)), status === '0' ? '' : paint(statusColors[status[0]], status),
      duration(http.get('duration')?.json))
    const target = targetOf(data)
    if (target !== null) {
      words.push(target.word)
      data = target.others
    }
  }
  words.push(...fields(data, ''))
  const id = [...text('trace_id')].slice(0, shownTraceID).join('')
  if (id !== '') words.push(paint(dim, '#' + quoted(id)))
  const own = [['span_id', text('span_id')], ['identity', text('identity', tree.get('auth'))],
    ['identity_type', text('identity_type', tree.get('auth'))],
    ['truncated', (tree.get('truncated')?.nodes ?? []).map((name) => name.value).join(',')]]
  for (const [key, value] of own) if (value !== '') words.push(field(key, quoted(value)))
  const lines = [words.filter(Boolean).join(' ')]
  for (const error of tree.get('errors')?.nodes ?? []) {
    lines.push(['    error:', shown(text('message', error)), ...fields(error.get('data')?.pairs ?? [], '')].filter(Boolean).join(' '))
    for (const frame of error.get('stack_trace')?.nodes ?? []) {
      lines.push('        ' + shown(`${text('function', frame)} ${text('file', frame)}:${frame.get('line')?.json}`))
    }
  }
  return lines.join('\n') + '\n'

  function field(key, value) { return paint(dim, quoted(key) + '=') + value }

  function fields(pairs, prefix) {
    return pairs.flatMap(([key, node]) => {
      const path = prefix + unescape(key)
      if (isTakenApart(path, node)) return fields(node.pairs, path + '.')
      return field(path, node instanceof Text ? quoted(node.value) : replaceInvalid(node.json, '\ufffd'))
    })
  }
}

// clock returns the local time of a time to the millisecond, or the text if it is none.
function clock(instant) {
  const date = new Date(instant)
  if (Number.isNaN(date.getTime())) return shown(instant)
  const two = (n) => String(n).padStart(2, '0')
  const ms = /\.(\d{1,3})/.exec(instant)?.[1] ?? '' // not rounded
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${ms.padEnd(3, '0')}`
}

// targetOf returns the upstream of a proxied request as one word, and the fields without those that it replaces.
function targetOf(data) {
  const find = (key) => data.findIndex(([k, node]) => k === key && node instanceof Text && node.escaped !== '')
  const name = find('proxy_name')
  const destination = find('destination')
  if (name < 0 || destination < 0) return null
  const word = quoted(data[name][1].value + '@' + data[destination][1].value.replace(/^http:\/\//, ''))
  return { word, others: data.filter((_, i) => i !== name && i !== destination) }
}

function escaped(s) { return escapeSpecial(JSON.stringify(s)).slice(1, -1) }

// quoted returns a text in quotes if it would be ambiguous without.
function quoted(s) {
  const safe = escaped(s)
  return safe !== s || s === '' || /[ =]/.test(s) ? '"' + safe + '"' : s
}

// shown returns a text without quotes. Quotes and backslashes in it are not escaped, all that steers a terminal is.
function shown(s) { return s.replace(/[^"\\]+/g, escaped) }

// duration returns nanoseconds with two or three digits, in the largest unit that gives at least one; not rounded.
function duration(nanoseconds) {
  if (nanoseconds === undefined) return ''
  const n = BigInt(nanoseconds)
  const size = n < 0n ? -n : n
  for (const [unit, length] of [['s', 1_000_000_000n], ['ms', 1_000_000n], ['µs', 1000n]]) {
    if (size < length) continue
    const tenth = size < 10n * length ? '.' + size * 10n / length % 10n : ''
    return (n < 0n ? '-' : '') + size / length + tenth + unit
  }
  return n + 'ns'
}

module.exports = { human }
