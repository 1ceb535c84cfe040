'use strict'
// A Logger encodes events and gives their lines to its output.

const { encodeErrors, isError } = require('./errors.js')
const { encodeHTTP, requestOf } = require('./http.js')
const { createdAtTime, createdNow, instantOf, isInstant } = require('./instant.js')
const { levels } = require('./levels.js')
const { directive, failure, textOf } = require('./text.js')
const { currentHold, currentIds, idMembers } = require('./trace.js')

// The parts that all events of a Logger have, as encoded; '' for those that they do not have.
class Parts {
  createdAt = ''
  traceId = '' // not encoded, like spanId
  spanId = ''
  ids = ''
  http = ''
  auth = ''
  data = '' // the beginning of data, with a comma after each field
  errors = none

  copy() {
    const copy = new Parts()
    copy.createdAt = this.createdAt
    copy.traceId = this.traceId
    copy.spanId = this.spanId
    copy.ids = this.ids
    copy.http = this.http
    copy.auth = this.auth
    copy.data = this.data
    copy.errors = this.errors
    return copy
  }
}

const partNames = new Set(['created_at', 'trace_id', 'span_id', 'http', 'auth', 'errors'])

const none = []

// The values of an event may log, for example in a getter. This is how often they may do so in each other.
const deepest = 4
const nested = 'the values of this event log it again'

class Logger {
  #core
  #own

  constructor(core, own = new Parts()) {
    this.#core = core
    this.#own = own
    // Each Logger has functions of its own, so that they work detached: promise.catch(log.error).
    const { least } = new.target
    this.fatal = (event, first, second, ...more) => this.#log(0, event, first, second, more)
    if (least > 0) this.error = (event, first, second, ...more) => this.#log(1, event, first, second, more)
    if (least > 1) this.warn = (event, first, second, ...more) => this.#log(2, event, first, second, more)
    if (least > 2) this.info = (event, first, second, ...more) => this.#log(3, event, first, second, more)
    if (least > 3) this.debug = (event, first, second, ...more) => this.#log(4, event, first, second, more)
  }

  child(fields) {
    return this.#derive((own) => {
      if (fields === undefined || fields === null) return
      own.data = withFields(own.data, this.#core.fields.object(isFields(fields) ? fields : { args: [fields] }))
    })
  }

  with(parts) { return this.#derive((own) => this.#set(own, parts)) }

  http(request, response) { return this.#derive((own) => this.#set(own, { http: requestOf(request, response) })) }

  // #derive returns a Logger with parts that set has changed. If that fails, they have the reason.
  #derive(set) {
    const core = this.#core
    let own = this.#own.copy()
    core.depth++
    try {
      if (core.depth > deepest) throw new Error(nested)
      set(own)
    } catch (error) {
      own = this.#own.copy()
      own.data = withFields(own.data, `{"error":${failure(error)}}`)
    }
    core.depth--
    return new this.constructor(core, own)
  }

  flush() { return this.#core.output.flush() }
  close() { return this.#core.output.close() }
  stats() { return { ...this.#core.output.stats(), ...this.#core.counts } }

  #set(own, parts) {
    const { created_at: createdAt, trace_id: traceId, span_id: spanId, http, auth, errors } = parts
    if (createdAt !== undefined) own.createdAt = createdAtTime(instantText(createdAt))
    if (traceId) own.traceId = String(traceId)
    if (spanId) own.spanId = String(spanId)
    if (traceId || spanId) own.ids = idMembers(own.traceId, own.spanId)
    if (http !== undefined) own.http = ',"http":' + encodeHTTP(http, this.#core.plainFields, this.#core.secrets)
    if (auth !== undefined) own.auth = this.#auth(auth)
    if (errors !== undefined) own.errors = this.#withErrors(own.errors, [...errors])
    for (const key in parts) {
      if (!partNames.has(key)) own.data = withFields(own.data, this.#core.fields.object({ [key]: parts[key] }))
    }
  }

  #auth({ identity, identity_type: type }) {
    const auth = { identity: String(identity ?? ''), identity_type: String(type ?? '') }
    return ',"auth":' + this.#core.plainFields.object(auth)
  }

  #errors(error) { return encodeErrors(error, this.#core.fields, this.#core.maxBytes) }

  #log(severity, event, first, second, more) {
    const core = this.#core
    let json
    core.depth++
    try {
      if (core.depth > deepest) throw new Error(nested)
      json = typeof event === 'string' && more.length === 0 && (second === undefined || isFields(second))
        ? this.#encode(severity, event, first, second)
        : this.#encodeMixed(severity, event, [first, second, ...more])
    } catch (error) { // not by fields, which never throw
      json = this.#encode(severity, 'event could not be encoded', { error: textOf(error) })
    }
    core.depth--
    const hold = core.counts === null ? undefined : currentHold()
    if (hold === undefined) core.output.put(severity, json)
    else hold.put(core, severity, json)
  }

  #encode(severity, event, first, second) {
    const core = this.#core
    let errors = this.#own.errors
    let fields = first ?? second
    if (first !== undefined && (second !== undefined || !isFields(first))) {
      const isMixed = isPrimitive(first) ? directive.test(event) : isPlain(first)
      if (isMixed) return this.#encodeMixed(severity, event, [first, second])
      if (first !== null) errors = errors.concat(this.#errors(first))
      fields = isFields(second) ? second : undefined
    }
    if (fields === undefined) return this.#join(severity, event, errors)
    const among = []
    const object = core.fields.object(fields, among)
    return this.#join(severity, event, among.length === 0 ? errors : this.#withErrors(errors, among), object)
  }

  // #encodeMixed encodes a call with arguments in another order or number, such as those of pino and bunyan: fields or an
  // error before the event. All objects are fields; other values are the field "args".
  #encodeMixed(severity, event, args) {
    const core = this.#core
    const errors = []
    const rest = []
    let data = ''
    const add = (fields) => {
      const object = core.fields.object(fields, errors).slice(1, -1)
      if (object !== '') data += (data === '' ? '' : ',') + object
    }
    if (typeof event !== 'string') {
      const before = event
      const isNamed = typeof args[0] === 'string'
      event = isNamed ? args.shift() : eventOf(before)
      if (isNamed || typeof before === 'object') args.unshift(before)
    } else if (isThrown(args[0]) && !(isPrimitive(args[0]) && directive.test(event))) {
      errors.push(args.shift())
    }
    for (const arg of args) {
      if (isError(arg)) errors.push(arg)
      else if (isFields(arg)) add(arg)
      else if (arg !== undefined && arg !== null) rest.push(arg)
    }
    if (rest.length > 0) add({ args: rest })
    return this.#join(severity, event, this.#withErrors(this.#own.errors, errors), '{' + data + '}')
  }

  #withErrors(encoded, errors) { return encoded.concat(...errors.map((error) => this.#errors(error))) }

  // #join returns the JSON of an event. object is its fields as JSON, or undefined.
  #join(severity, event, errors, object) {
    const core = this.#core
    const own = this.#own
    let json = (own.createdAt || createdNow()) + core.eventText(event) +
      (own.traceId === '' ? currentIds() || own.ids : own.ids) + severities[severity] + own.http + own.auth
    if (object !== undefined) {
      if (object !== '{}') json += (own.data || openData) + object.slice(1)
      else if (own.data !== '') json += own.data.slice(0, -1) + '}'
    } else if (own.data !== '') {
      json += own.data.slice(0, -1) + '}'
    }
    return errors.length === 0 ? json + '}' : json + core.form.errors(errors) + '}'
  }
}

const severities = levels.map((_, severity) => `,"severity":${severity}`)

const openData = ',"data":{'

// withFields adds the fields of a JSON object to the beginning of data.
function withFields(data, object) {
  return object === '{}' ? data : (data || openData) + object.slice(1, -1) + ','
}

// isFields reports whether an argument has the fields of an event. Anything else is an error.
function isFields(value) { return typeof value === 'object' && value !== null && !isError(value) }

// isThrown reports whether an argument after the event is an error of it: any value may be thrown, but a plain object has
// fields.
function isThrown(value) { return value !== undefined && value !== null && !isFields(value) }

function isPrimitive(value) { return typeof value !== 'object' }

// isPlain reports whether an object has fields also before other fields. One of a class is an error there: it was thrown.
function isPlain(object) {
  try {
    return object !== null && [Object.prototype, null].includes(Object.getPrototypeOf(object))
  } catch {
    return false // a revoked Proxy
  }
}

// eventOf returns the event of a call that begins with something else and has no sentence, as log.error(err).
function eventOf(value) {
  if (!isFields(value)) return textOf(value)
  try {
    return isError(value.err) ? textOf(value.err) : ''
  } catch {
    return ''
  }
}

function instantText(time) {
  return typeof time === 'object' && time !== null && isInstant(time) ? instantOf(time) : instantOf(new Date(time))
}

function ignore() {}

// loggerClass returns the class of Loggers that write events of a level and of those above. The methods of the others
// do nothing.
function loggerClass(level) {
  class LeveledLogger extends Logger {
    static least = levels.indexOf(level)
  }
  for (const below of levels.slice(levels.indexOf(level) + 1)) LeveledLogger.prototype[below] = ignore
  return LeveledLogger
}

const classes = Object.fromEntries(levels.map((level) => [level, loggerClass(level)]))

module.exports = { classes }
