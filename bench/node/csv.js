'use strict'
// A server that receives CSV, parses it while it arrives, and logs each row and each 64 KiB: the service of the
// built-in experiment csv-node.
//
//   LOG_EACH=row,chunk node csv.js --port 8080 --folder /tmp --after 1000 console
//
// It answers GET /healthz with 204, and any other request with its number of rows when the body has ended. On SIGTERM
// it ends after everything is logged, and writes measures to the file in WEIR_LAB_MEASURES:
//
//   log calls                        including those of loggers that write nothing
//   log lines emitted                lines written to stdout; those missing at its reader were lost
//   log lines missing in its file    for loggers with a file of their own, like the next one
//   its file after the last answer   time until the last line was written
//   CPU per log call                 of the whole process; the value of "none" is the cost of reading
//   log call p50, p99, max           duration of one call in 64; long if the call waits for the log's reader
//   event-loop delay p50, p99, max   lateness of a timer, and therefore of all other work, until the last answer
//
// --after is the length of the warm-up in milliseconds, from the first request. It is not measured.

const fs = require('node:fs')
const http = require('node:http')
const { createHistogram, monitorEventLoopDelay, performance } = require('node:perf_hooks')
const { parseArgs } = require('node:util')

const { loggers } = require('./loggers.js')
const { Rows } = require('./rows.js')

const chunkSize = 64 * 1024
const timedOneIn = 64
const delayStep = 10 // in ms; the delay of a timer in an idle process

const { values: options, positionals: [name = 'console'] } = parseArgs({
  allowPositionals: true,
  options: {
    port: { type: 'string', default: '8080' },
    folder: { type: 'string', default: '.' },
    after: { type: 'string', default: '0' }
  }
})

function fail(message) {
  console.error(`csv.js: error: ${message}`)
  process.exit(2)
}

const open = loggers[name]
if (open === undefined) fail(`there is no logger ${name}: there are ${Object.keys(loggers).join(', ')}`)
const each = new Set((process.env.LOG_EACH ?? 'row,chunk').split(','))
for (const word of each) if (word !== 'row' && word !== 'chunk') fail(`LOG_EACH=${process.env.LOG_EACH}: there are row and chunk`)

const logger = open(options.folder)
const calls = createHistogram()
const delay = monitorEventLoopDelay({ resolution: delayStep })
let called = 0
let answered = 0 // when the last upload was answered
let delays = [] // measures of the delay until then; no client waits for later work of the log
let ended = false // the logger is closed; events of an interrupted upload may still arrive
let measuring = null // state at the end of the warm-up: { cpu, called }

function log(event, data) {
  if (ended) return
  if (++called % timedOneIn !== 0 || measuring === null) return logger.log(event, data)
  const start = performance.now()
  logger.log(event, data)
  calls.record(Math.max(1, Math.round((performance.now() - start) * 1e6)))
}

function warmUp() {
  warmUp = () => {}
  const begin = () => {
    measuring = { cpu: process.cpuUsage(), called }
    delay.enable()
  }
  setTimeout(begin, Number(options.after)).unref()
}

const server = http.createServer((request, response) => {
  if (request.url === '/healthz') {
    request.resume()
    return response.writeHead(204).end()
  }
  warmUp()
  const rows = new Rows()
  let bytes = 0
  let chunks = 0
  const row = (text, number) => { if (number > 0 && each.has('row')) log('row', { number, text }) }
  const chunk = () => { if (each.has('chunk')) log('chunk', { number: chunks, bytes }); chunks++ }
  request.on('data', (piece) => {
    rows.add(piece, row)
    bytes += piece.length
    while (chunks < Math.floor(bytes / chunkSize)) chunk()
  })
  request.on('end', () => {
    rows.end(row)
    if (bytes > chunks * chunkSize) chunk()
    response.end(`${Math.max(0, rows.rows - 1)} rows\n`)
    answered = performance.now()
    if (delay.max > 0) delays = quantiles('event-loop delay', delay, delayStep * 1e6)
  })
})

server.on('error', (error) => fail(error.message))
server.listen(Number(options.port), '127.0.0.1')

process.once('SIGTERM', () => {
  delay.disable()
  server.close(() => {
    ended = true
    logger.close === undefined ? leaveMeasures() : logger.close(leaveMeasures)
  })
  server.closeAllConnections?.()
})

function leaveMeasures() {
  const cpu = measuring === null ? null : process.cpuUsage(measuring.cpu) // including the lines written at the end
  const file = process.env.WEIR_LAB_MEASURES
  if (file === undefined) return
  const measures = [
    { name: 'log calls', unit: '', value: called, better: 'neither' },
    { name: 'log lines emitted', unit: '', value: logger.file === undefined ? logger.lines : 0, better: 'neither' }
  ]
  if (logger.file !== undefined) {
    measures.push({ name: 'log lines missing in its file', unit: '', value: logger.lines - linesOf(logger.file) })
    measures.push({ name: 'its file after the last answer', unit: 's', value: Math.max(0, logger.wroteAt - answered) / 1e3 })
  }
  if (cpu !== null && called > measuring.called) {
    measures.push({ name: 'CPU per log call', unit: 'us', value: (cpu.user + cpu.system) / (called - measuring.called) })
  }
  if (calls.count > 0) measures.push(...quantiles('log call', calls, 0))
  measures.push(...delays)
  fs.writeFileSync(file, JSON.stringify(measures))
}

// quantiles returns quantiles of values in nanoseconds, minus always.
function quantiles(name, histogram, always) {
  const value = (nanoseconds) => Math.max(0, nanoseconds - always) / 1e3
  return [
    { name: `${name} p50`, unit: 'us', value: value(histogram.percentile(50)) },
    { name: `${name} p99`, unit: 'us', value: value(histogram.percentile(99)) },
    { name: `${name} max`, unit: 'us', value: value(histogram.max), better: 'neither' } // random
  ]
}

// linesOf counts the lines of a file that may be too large for a string.
function linesOf(file) {
  const f = fs.openSync(file, 'r')
  const piece = Buffer.alloc(1 << 20)
  let lines = 0
  for (let n; (n = fs.readSync(f, piece)) > 0;) {
    for (let i = piece.indexOf(0x0a); i >= 0 && i < n; i = piece.indexOf(0x0a, i + 1)) lines++
  }
  fs.closeSync(f)
  return lines
}
