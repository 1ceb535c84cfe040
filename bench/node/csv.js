'use strict'
// A server that takes CSV, reads it while it comes, and logs each row and each 64 KiB: the service of the built-in
// experiment csv-node.
//
//   LOG_EACH=row,chunk node csv.js --port 8080 --folder /tmp --after 1000 console
//
// It answers GET /healthz with 204, and anything else, when its body has ended, with how many rows that had. On SIGTERM
// it ends when all is logged, and leaves measures in the file that WEIR_LAB_MEASURES names:
//
//   log calls                        also of what writes nothing
//   log lines emitted                lines that were given to stdout; what its reader lacks of them was lost
//   log lines missing in its file    of what has a file of its own, as the next one
//   its file after the last answer   how long it was still written
//   CPU per log call                 of the whole process, so that what "none" has of it is the reading
//   log call p50, p99, max           the time inside one call in 64: a call that waits for the log's reader is long
//   event-loop delay p50, p99, max   how late a timer was, and so everything else that this process should do, until
//                                    the last answer
//
// --after has what happens in the first milliseconds since the first request left out: the warm-up.

const fs = require('node:fs')
const http = require('node:http')
const { createHistogram, monitorEventLoopDelay, performance } = require('node:perf_hooks')
const { parseArgs } = require('node:util')

const { loggers } = require('./loggers.js')
const { Rows } = require('./rows.js')

const chunkSize = 64 * 1024
const timedOneIn = 64
const delayStep = 10 // in ms; what a timer takes when nothing is in its way

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
let answered = 0 // when the last upload was
let delays = [] // measures of the delay until then: what the log takes afterwards keeps nobody waiting
let ended = false // the logger takes nothing any more: an upload that was cut off may still come
let measuring = null // what there was when the warm-up was over: { cpu, called }

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
  const cpu = measuring === null ? null : process.cpuUsage(measuring.cpu) // with what had to be written yet
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

// quantiles are in nanoseconds, less what there always is.
function quantiles(name, histogram, always) {
  const value = (nanoseconds) => Math.max(0, nanoseconds - always) / 1e3
  return [
    { name: `${name} p50`, unit: 'us', value: value(histogram.percentile(50)) },
    { name: `${name} p99`, unit: 'us', value: value(histogram.percentile(99)) },
    { name: `${name} max`, unit: 'us', value: value(histogram.max), better: 'neither' } // a matter of chance
  ]
}

// linesOf counts the lines of a file that may be too large for one text.
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
