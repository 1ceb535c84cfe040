'use strict'
// The ways to log that are compared. Each has
//
//   log(event, data)  the call that is measured
//   lines             how many lines it has given to stdout or stderr
//   close(done)       calls done when all is written; missing when there is nothing to wait for
//   file              where it writes instead of stdout; missing for most
//   wroteAt           when the last line was written there
//
// All that write have the same to say: the time, the event and its data, as a line of JSON.

const path = require('node:path')

function line(event, data) {
  return JSON.stringify({ time: new Date().toISOString(), level: 'info', event, ...data })
}

// The loop alone: what the others have on top of it is the logging.
function none() {
  return { lines: 0, log() {} }
}

// Formats each line and throws it away: "piped" in an old comparison was this, and so it was the fastest of all.
function format() {
  const l = { lines: 0, length: 0, log(event, data) { l.length += line(event, data).length } }
  return l
}

function onConsole(out) {
  const l = { lines: 0, log(event, data) { out.log(line(event, data)); l.lines++ } }
  return l
}

// A Proxy around console, whose methods add the time and the level to what they are given.
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

// A logger of winston that ends ends its transports, also when it still has lines for them, and fails then with "write
// after end". So it is left alone until they have all lines: each that a transport has written may make room for more.
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

// A logger of winston is finished before its file is.
function settled(logger, done) {
  const open = logger.transports.filter((t) => t.filename !== undefined)
  if (open.length === 0) return done()
  if (open[0].writableFinished) return done()
  open[0].once('finish', done)
}

// pino writes by itself and not through process.stdout. Its destination is asynchronous unless told otherwise: of
// the lines that are logged in one turn of the event loop, the first is handed to a write, and the others wait.
function pino() {
  const logger = require('pino')({ timestamp: () => `,"time":"${new Date().toISOString()}"`, messageKey: 'event' })
  const l = { lines: 0, log(event, data) { logger.info(data, event); l.lines++ } }
  return l
}

// folder is where a logger may have a file.
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
  pino
}
