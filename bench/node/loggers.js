'use strict'
// The loggers of the comparison. Each has
//
//   log(event, data)  the measured call
//   lines             number of lines written to stdout or stderr
//   close(done)       calls done after everything is written; optional
//   file              its output instead of stdout; optional
//   wroteAt           when the last line was written to file
//
// All that write produce the same: the time, the event and its data, as a line of JSON.

const path = require('node:path')

function line(event, data) {
  return JSON.stringify({ time: new Date().toISOString(), level: 'info', event, ...data })
}

// Only the loop: the difference to the others is the cost of logging.
function none() {
  return { lines: 0, log() {} }
}

// Formats each line and discards it. An old comparison called this "piped", where it was the fastest.
function format() {
  const l = { lines: 0, length: 0, log(event, data) { l.length += line(event, data).length } }
  return l
}

function onConsole(out) {
  const l = { lines: 0, log(event, data) { out.log(line(event, data)); l.lines++ } }
  return l
}

// A Proxy around console with methods that add the time and the level to their arguments.
function proxied() {
  const out = new Proxy(console, {
    get(target, name) {
      return (event, data) => target[name](line(event, data))
    }
  })
  const l = { lines: 0, log(event, data) { out.log(event, data); l.lines++ } }
  return l
}

function winston(transport, file) {
  const { createLogger, format, transports } = require('winston')
  const logger = createLogger({
    level: 'info',
    format: format.combine(format.timestamp(), format.json()),
    transports: [transport(transports)]
  })
  const l = {
    lines: 0,
    file,
    wroteAt: 0,
    log(event, data) { logger.info(event, data); l.lines++ },
    close(done) { handedOver(logger, () => logger.on('finish', () => settled(logger, done)).end()) }
  }
  if (file !== undefined) logger.transports[0].on('logged', () => { l.wroteAt = performance.now() })
  return l
}

// Ending a winston logger ends its transports, even if it still has lines for them, and then fails with "write after
// end". So this waits until the transports have all lines. Each line that a transport has written may let in more.
function handedOver(logger, then) {
  const [transport] = logger.transports
  const look = () => {
    if (logger.writableLength + logger.readableLength > 0) return
    transport.off('logged', look)
    then()
  }
  transport.on('logged', look)
  look()
}

// A winston logger finishes before its file.
function settled(logger, done) {
  const open = logger.transports.filter((t) => t.filename !== undefined)
  if (open.length === 0) return done()
  if (open[0].writableFinished) return done()
  open[0].once('finish', done)
}

// pino does not write through process.stdout. Its destination is asynchronous by default: of the lines logged in one
// turn of the event loop, the first is written and the others wait.
function pino() {
  const logger = require('pino')({ timestamp: () => `,"time":"${new Date().toISOString()}"`, messageKey: 'event' })
  const l = { lines: 0, log(event, data) { logger.info(data, event); l.lines++ } }
  return l
}

// weir-log writes the lines of a turn of the event loop together. Unless WEIR_WHEN_FULL has another policy, its queue
// drops no line, as the other loggers.
function weir() {
  const whenFull = process.env.WEIR_WHEN_FULL ?? 'block'
  const logger = require('weir-log')({ namespace: 'csv', format: 'json', queue: { whenFull, exitTimeout: 300_000 } })
  const l = {
    lines: 0,
    log(event, data) { logger.info(event, data) },
    close(done) {
      logger.flush()
      l.lines = logger.stats().written
      done()
    }
  }
  return l
}

// folder is the folder for a logger's file.
exports.loggers = {
  none,
  format,
  console: () => onConsole(console),
  proxy: proxied,
  'winston-console': () => winston((t) => new t.Console()),
  'winston-file': (folder) => {
    const file = path.join(folder, 'winston.log')
    return winston((t) => new t.File({ filename: file }), file)
  },
  pino,
  weir
}
