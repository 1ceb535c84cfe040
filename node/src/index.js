'use strict'

const { captureConsole, pinoStream, winstonTransport } = require('./bridges.js')
const { Direct } = require('./direct.js')
const { reopenOnHangup } = require('./exit.js')
const { FieldEncoder } = require('./fields.js')
const { newForm } = require('./form.js')
const { classes } = require('./logger.js')
const { middleware } = require('./middleware.js')
const { readOptions } = require('./options.js')
const { Queue } = require('./queue.js')
const { Secrets } = require('./secrets.js')
const { openTarget } = require('./target.js')
const { escapeSpecial, quote } = require('./text.js')
const { traceId } = require('./trace.js')

const mostEventTexts = 1000 // an event is a constant; a program that builds them does not fill the memory

function weir(options = {}) {
  const o = readOptions(options)
  const secrets = o.redact.length > 0 ? new Secrets(o.redact) : null
  const target = typeof o.to === 'object' ? null : openTarget(o.to)
  const core = {
    maxBytes: o.maxEventBytes,
    secrets,
    fields: new FieldEncoder(o.maxEventBytes, secrets),
    plainFields: new FieldEncoder(o.maxEventBytes, null),
    eventText: keepTexts(',"namespace":' + quote(o.namespace, o.maxEventBytes) + ',"event":', o.maxEventBytes),
    form: newForm(o.format, o.maxEventBytes, target?.isTerminal ?? false),
    output: null,
    counts: { held: 0, discarded: 0 }, // events of requests that are held; null for a logger whose events never are
    depth: 0 // calls of loggers in each other
  }
  core.output = target === null ? new Direct(o.to, core.form) : newQueue(o, target, core)
  return new classes[o.level](core)
}

function newQueue(o, target, core) {
  let made
  const report = new classes.info({ ...core, counts: null, output: { put(severity, json) { made = json } } })
  const queue = new Queue(target, core.form, { ...o.queue, fallback: o.to === 'stdout' }, (event, severity, fields) => {
    report[severity === 2 ? 'warn' : 'info'](event, fields)
    return made
  })
  if (typeof o.to === 'string' && o.to !== 'stdout' && o.to !== 'stderr') reopenOnHangup(queue)
  return queue
}

// keepTexts returns a function that encodes a string after a label, and keeps the results.
function keepTexts(label, maxBytes) {
  const texts = new Map()
  return (event) => {
    let text = texts.get(event)
    if (text === undefined) {
      text = escapeSpecial(label + quote(event, maxBytes))
      if (texts.size < mostEventTexts) texts.set(event, text)
    }
    return text
  }
}

module.exports = Object.assign(weir, { captureConsole, middleware, pinoStream, traceId, winstonTransport })
