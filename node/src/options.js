'use strict'
// The settings of loggers, middleware and bridges: their defaults, and errors for those that are wrong.

const { URL, fileURLToPath } = require('node:url')
const { inspect } = require('node:util')

const { formats } = require('./form.js')
const { levels } = require('./levels.js')
const { policies } = require('./queue.js')
const { hintOf } = require('./secrets.js')

const leastEventBytes = 512

const oneOf = (values) => ({ want: 'one of ' + values.join(', '), is: (v) => values.includes(v) })
const atLeast = (least) => ({ want: `a whole number of ${least} or more`, is: (v) => Number.isInteger(v) && v >= least })
const string = { want: 'a string', is: (v) => typeof v === 'string' }

// A setting is its default, and a description and test of its values.
const settings = {
  namespace: ['', string],
  level: ['info', oneOf(levels)],
  format: ['auto', oneOf(formats)],
  to: ['stdout', {
    want: "'stdout', 'stderr', a path, a descriptor, or an object with a method write",
    is: (v) => typeof v === 'string' ? v !== '' : v instanceof URL || Number.isInteger(v) && v >= 0 || typeof v?.write === 'function'
  }],
  maxEventBytes: [16 * 1024, atLeast(0)],
  redact: [[], { want: 'an array of strings', is: (v) => Array.isArray(v) && v.every(string.is) }],
  queue: [{}, { want: 'an object', is: () => true }] // read checks it
}

const queueSettings = {
  bytes: [8 * 1024 * 1024, atLeast(1)],
  whenFull: ['shed', oneOf(policies)],
  wait: [0, atLeast(0)],
  batch: [64 * 1024, atLeast(0)],
  heartbeat: [0, atLeast(0)],
  exitTimeout: [10_000, atLeast(0)]
}

const middlewareSettings = {
  events: ['all', oneOf(['all', 'completed'])],
  keep: [null, { want: 'an object', is: () => true }] // read checks it
}

const keepSettings = {
  slowerThan: [0, atLeast(0)],
  share: [0, { want: 'a number from 0 to 1', is: (v) => typeof v === 'number' && v >= 0 && v <= 1 }],
  trust: [null, { want: 'a function', is: (v) => v === null || typeof v === 'function' }],
  bytes: [32 * 1024, atLeast(1)]
}

const pinoSettings = { messageKey: ['msg', string], errorKey: ['err', string] }

// readOptions returns options with the defaults of those that are missing.
function readOptions(given) {
  const options = read(given, settings, 'weir')
  options.queue = read(options.queue, queueSettings, 'weir', 'queue.')
  for (const key of options.redact) {
    const hint = hintOf(key)
    if (hint !== '') {
      throw new TypeError(`weir: option redact: '${key}' is not the name of a key: ${hint}, which matches at any depth`)
    }
  }
  options.maxEventBytes = Math.max(options.maxEventBytes, leastEventBytes)
  if (options.to instanceof URL) options.to = fileURLToPath(options.to)
  return options
}

// read returns options of a function with the defaults of those that are missing. It throws a TypeError for the others.
function read(given, settings, where, prefix = '') {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new TypeError(`${where}: ${prefix === '' ? 'the options' : 'option ' + prefix.slice(0, -1)} must be an object, not ${shown(given)}`)
  }
  const names = Object.keys(settings)
  for (const name of Object.keys(given)) {
    if (names.includes(name)) continue
    const near = nearest(name, names)
    throw new TypeError(`${where}: there is no option ${prefix}${name}: ` +
      (near !== undefined ? `did you mean ${prefix}${near}? ` : '') + `there ${names.length > 1 ? 'are' : 'is'} ${names.join(', ')}`)
  }
  const options = {}
  for (const [name, [usual, { is, want }]] of Object.entries(settings)) {
    const value = given[name] === undefined ? usual : given[name]
    if (!is(value)) throw new TypeError(`${where}: option ${prefix}${name} must be ${want}, not ${shown(value)}`)
    options[name] = value
  }
  return options
}

function shown(value) { return inspect(value, { depth: 0, breakLength: Infinity, maxStringLength: 40 }) }

// nearest returns the name that is most like another one, or undefined if none is.
function nearest(name, names) {
  const [first] = names.map((one) => ({ one, edits: edits(name.toLowerCase(), one.toLowerCase()) }))
    .filter(({ one, edits }) => edits <= Math.ceil(one.length / 3) || one.toLowerCase().includes(name.toLowerCase()))
    .sort((a, b) => a.edits - b.edits)
  return first?.one
}

// edits returns the least number of characters to insert, delete or replace (the distance of Levenshtein).
function edits(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + Number(a[i - 1] !== b[j - 1]))
    }
    row = next
  }
  return row[b.length]
}

// checkLogger throws a TypeError if an argument is no Logger of this package.
function checkLogger(log, where) {
  if (typeof log?.with === 'function' && typeof log.stats === 'function') return
  throw new TypeError(`${where}: its first argument must be a logger of weir(), not ${shown(log)}`)
}

function readMiddlewareOptions(given) {
  const options = read(given, middlewareSettings, 'weir.middleware')
  if (options.keep !== null) options.keep = read(options.keep, keepSettings, 'weir.middleware', 'keep.')
  return options
}

const readPinoOptions = (given) => read(given, pinoSettings, 'weir.pinoStream')

module.exports = { checkLogger, readMiddlewareOptions, readOptions, readPinoOptions }
