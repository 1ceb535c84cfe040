'use strict'
// Other loggers as callers of a Logger, so that a service can be migrated step by step.

const { Writable } = require('node:stream')
const { format } = require('node:util')

const { isError } = require('./errors.js')
const { textOf } = require('./text.js')

// pinoStream returns the destination of a pino logger: pino(options, weir.pinoStream(log)).
function pinoStream(log, { messageKey = 'msg', errorKey = 'err' } = {}) {
  return {
    write(line) {
      let record
      try {
        record = JSON.parse(line)
      } catch { // pino lets formatters and serializers write other text
        log.info(line.trimEnd())
        return
      }
      const { level, time, [messageKey]: message = '', [errorKey]: error, ...fields } = record
      const parts = { created_at: new Date(time) }
      if (error !== undefined && error !== null) parts.errors = [typeof error === 'object' ? errorOf(error) : error]
      if (Number.isNaN(parts.created_at.getTime())) delete parts.created_at
      log.with(parts)[levelOfPino(level)](message, fields)
    }
  }
}

function levelOfPino(level) {
  if (typeof level === 'string') return levelOfName(level)
  if (level >= 60) return 'fatal'
  if (level >= 50) return 'error'
  if (level >= 40) return 'warn'
  return level >= 30 ? 'info' : 'debug'
}

// The levels of npm, syslog and bunyan that have other names.
const levelNames = {
  __proto__: null,
  emerg: 'fatal', alert: 'fatal', crit: 'fatal', fatal: 'fatal', error: 'error', warning: 'warn', warn: 'warn',
  notice: 'info', info: 'info', http: 'info', verbose: 'debug', debug: 'debug', silly: 'debug', trace: 'debug'
}

function levelOfName(name) { return levelNames[name] ?? 'info' }

// errorOf returns an error that pino has serialised.
function errorOf({ type, message, stack, ...fields }) {
  const error = Object.assign(new Error(message), fields)
  Object.defineProperty(error, 'stack', { value: stack })
  if (typeof type === 'string') Object.defineProperty(error, 'name', { value: type })
  return error
}

// winstonTransport returns a transport for winston.createLogger.
function winstonTransport(log) {
  const transport = new Writable({
    objectMode: true,
    write(info, encoding, callback) {
      const { level, message, timestamp, stack, ...fields } = info
      const method = levelOfName(info[Symbol.for('level')] ?? level)
      if (typeof stack === 'string') { // winston copies the stack and message of an error
        log.with({ errors: [errorOf({ message: String(message), stack })] })[method](String(message), fields)
      } else if (isError(message)) {
        log[method](message.message, message, fields)
      } else {
        log[method](typeof message === 'string' ? message : textOfCall([message]), fields)
      }
      callback()
    }
  })
  transport.log = (info, callback) => transport.write(info, callback) // winston checks that there is one
  return transport
}

const methodsOfConsole = { debug: 'debug', log: 'info', info: 'info', warn: 'warn', error: 'error', trace: 'debug' }

// captureConsole makes the methods of the global console log events, and returns a function that ends that.
function captureConsole(log) {
  const before = {}
  let isLogging = false // the logger may write to an object that uses the console
  for (const [name, level] of Object.entries(methodsOfConsole)) {
    before[name] = console[name]
    console[name] = (...args) => {
      if (isLogging) return before[name](...args)
      isLogging = true
      const [event, ...others] = typeof args[0] === 'string' && args[0].includes('%') ? formatted(args) : args
      log[level](event, ...others)
      isLogging = false
    }
  }
  return () => Object.assign(console, before)
}

// formatted returns the arguments with those that the first one has a directive for (%s, %d, ...) in its text.
function formatted([text, ...args]) {
  const count = (text.replaceAll('%%', '').match(/%[sdifjoOc]/g) ?? []).length
  try {
    return [format(text, ...args.slice(0, count)), ...args.slice(count)]
  } catch (error) { // of a method that the arguments have for util.inspect
    return ['!ERROR: ' + textOf(error), ...args.slice(count)]
  }
}

module.exports = { captureConsole, pinoStream, winstonTransport }
