'use strict'
// The settings of a logger: their defaults, and errors for those that are wrong.

const { URL, fileURLToPath } = require('node:url')

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
    is: (v) => typeof v === 'string' || v instanceof URL || Number.isInteger(v) || typeof v?.write === 'function'
  }],
  maxEventBytes: [16 * 1024, atLeast(0)],
  redact: [[], { want: 'an array of strings', is: (v) => Array.isArray(v) && v.every(string.is) }],
  queue: [{}, { want: 'an object', is: (v) => typeof v === 'object' && v !== null }]
}

const queueSettings = {
  bytes: [8 * 1024 * 1024, atLeast(1)],
  whenFull: ['shed', oneOf(policies)],
  wait: [0, atLeast(0)],
  batch: [64 * 1024, atLeast(0)],
  heartbeat: [0, atLeast(0)],
  exitTimeout: [10_000, atLeast(0)]
}

// readOptions returns options with the defaults of those that are missing.
function readOptions(given) {
  const options = read(given, settings, '')
  options.queue = read(options.queue, queueSettings, 'queue.')
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

function read(given, settings, prefix) {
  for (const name of Object.keys(given)) {
    if (!(name in settings)) {
      throw new TypeError(`weir: there is no option ${prefix}${name}: there are ${Object.keys(settings).join(', ')}`)
    }
  }
  const options = {}
  for (const [name, [usual, kind]] of Object.entries(settings)) {
    options[name] = given[name] ?? usual
    if (!kind.is(options[name])) throw new TypeError(`weir: option ${prefix}${name} must be ${kind.want}`)
  }
  return options
}

module.exports = { readOptions }
