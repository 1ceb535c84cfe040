'use strict'
// Other loggers as callers of a Logger, so that a service can be migrated step by step.

const { randomUUID } = require('node:crypto')
const { Writable } = require('node:stream')
const { format } = require('node:util')

const { isError } = require('./errors.js')
const { checkLogger, readPinoOptions } = require('./options.js')
const { directive, textOf } = require('./text.js')

// pinoStream returns the destination of a pino logger: pino(options, weir.pinoStream(log)).
function pinoStream(log, options = {}) {
  checkLogger(log, 'weir.pinoStream')
  const { messageKey, errorKey } = readPinoOptions(options)
  return {
    write(line) {
      let record = null
      try {
        record = parseExactly(line)
      } catch {
        // pino lets formatters and serializers write other text.
      }
      if (typeof record !== 'object' || record === null) {
        log.info(line.trimEnd())
        return
      }
      const { level, time, [messageKey]: message = '', [errorKey]: error, ...fields } = record
      const parts = { created_at: timeOfPino(time) }
      if (error !== undefined && error !== null) parts.errors = [typeof error === 'object' ? errorOf(error) : error]
      if (Number.isNaN(parts.created_at.getTime())) {
        delete parts.created_at
        if (time !== undefined) fields.time = time
      }
      log.with(parts)[levelOfPino(level)](message, fields)
    }
  }
}

const longInteger = /^-?\d{16,}$/
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g
const mark = randomUUID() // begins no string of a record

// parseExactly parses JSON like JSON.parse, but integers that a number cannot hold become BigInts. Node 20 does not give
// a reviver the source text.
function parseExactly(json) {
  if (!/\d{16}/.test(json)) return JSON.parse(json)
  const isLong = (text) => longInteger.test(text) && !Number.isSafeInteger(Number(text))
  const marked = json.replace(stringOrNumber, (text) => isLong(text) ? `"${mark}${text}"` : text)
  return JSON.parse(marked, (key, value) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value)
}

const firstMillisecond = 1e11 // smaller times are the seconds of pino.stdTimeFunctions.unixTime, until the year 5138

function timeOfPino(time) {
  return new Date(typeof time === 'number' && Math.abs(time) < firstMillisecond ? time * 1000 : time)
}

function levelOfPino(level) {
  if (typeof level === 'string') return levelOfName(level)
  if (level >= 60) return 'fatal'
  if (level >= 50) return 'error'
  if (level >= 40) return 'warn'
  return level < 30 ? 'debug' : 'info'
}

// The levels of npm, syslog and bunyan that have other names.
const levelNames = {
  __proto__: null,
  emerg: 'fatal', alert: 'fatal', crit: 'fatal', fatal: 'fatal', error: 'error', warning: 'warn', warn: 'warn',
  notice: 'info', info: 'info', http: 'info', verbose: 'debug', debug: 'debug', silly: 'debug', trace: 'debug'
}

function levelOfName(name) { return levelNames[name] ?? 'info' }

// errorOf returns an error that pino has serialised, with its causes and the errors of an AggregateError.
function errorOf({ type, message, stack, cause, aggregateErrors, ...fields }) {
  const error = Object.assign(new Error(message), fields)
  const isSerialised = (value) => typeof value?.stack === 'string' && !isError(value)
  const define = (key, value) => Object.defineProperty(error, key, { value, configurable: true })
  define('stack', stack)
  if (typeof type === 'string') define('name', type)
  if (cause !== undefined) define('cause', isSerialised(cause) ? errorOf(cause) : cause)
  if (Array.isArray(aggregateErrors)) define('errors', aggregateErrors.map((one) => isSerialised(one) ? errorOf(one) : one))
  return error
}

// winstonTransport returns a transport for winston.createLogger.
function winstonTransport(log) {
  checkLogger(log, 'weir.winstonTransport')
  const transport = new Writable({
    objectMode: true,
    write(info, encoding, callback) {
      const { level, message = '', timestamp, stack, cause, ...fields } = info
      const args = info[Symbol.for('splat')] ?? [] // the arguments after the message
      const text = typeof message === 'string' ? message : ''
      let error = [info, message, ...args].find(isError)
      let event = isError(message) ? textOf(message) : message
      if (error === undefined && typeof stack === 'string') error = errorOf({ message: text, stack, cause }) // a format made it
      else if (error !== undefined && text.endsWith(' ' + textOf(error))) event = text.slice(0, -1 - textOf(error).length)
      const more = directive.test(text) ? args : unusedOf(args, text)
      log[levelOfName(info[Symbol.for('level')] ?? level)](event, error, fields, ...more.filter((arg) => arg !== error))
      callback()
    }
  })
  transport.log = (info, callback) => transport.write(info, callback) // winston checks that there is one
  return transport
}

// unusedOf returns the arguments of winston that are neither in a text without directives nor among its fields.
function unusedOf(args, text) {
  const others = typeof args[0] === 'object' ? args.slice(1) : args // winston makes the first one fields
  return others.filter((arg) => typeof arg === 'object' || !text.includes(String(arg)))
}

const methodsOfConsole = { debug: 'debug', log: 'info', info: 'info', warn: 'warn', error: 'error', trace: 'debug' }

// captureConsole makes the methods of the global console log events, and returns a function that ends that.
function captureConsole(log) {
  checkLogger(log, 'weir.captureConsole')
  const before = {}
  let isLogging = false // the logger may write to an object that uses the console
  for (const [name, level] of Object.entries(methodsOfConsole)) {
    before[name] = console[name]
    console[name] = (...args) => {
      if (isLogging) return before[name](...args)
      isLogging = true
      try {
        const [event = '', ...others] = typeof args[0] === 'string' && args[0].includes('%') ? formatted(args) : args
        if (typeof event === 'string') log[level](event, undefined, ...objectsOf(others))
        else log[level](event, ...others)
      } finally {
        isLogging = false
      }
    }
  }
  return () => Object.assign(console, before)
}

// objectsOf returns arguments as objects with fields, and errors.
function objectsOf(args) {
  const isObject = (arg) => typeof arg === 'object' && arg !== null
  const others = args.filter((arg) => !isObject(arg))
  return [...args.filter(isObject), ...(others.length > 0 ? [{ args: others }] : [])]
}

// formatted returns the arguments with those that the first one has a directive for (%s, %d, ...) in its text.
function formatted([text, ...args]) {
  const count = text.replaceAll('%%', '').split(directive).length - 1
  try {
    return [format(text, ...args.slice(0, count)), ...args.slice(count)]
  } catch (error) { // of a method that the arguments have for util.inspect
    return ['!ERROR: ' + textOf(error), ...args.slice(count)]
  }
}

module.exports = { captureConsole, pinoStream, winstonTransport }
