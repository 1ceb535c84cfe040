// Uploads a CSV of 50,000 rows to the server of the experiment csv-node, which logs a line per row, to a file, a pipe, a
// slow pipe and a terminal.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const server = here('../../bench/node/csv.js')

const rows = 50_000
const table = 'id,name,date,amount\n' + Array.from({ length: rows }, (_, i) => `${i},Ada Lovelace ${i},1815-12-10,${(i * 7) % 1000}.50\n`).join('')
const passes = 3
const uploads = 4 // in each pass

// $0 is node, $1 the reader of a pipe, $2 the log. The other arguments are the command of the server.
const outputs = {
  file: 'log=$2; node=$0; shift 2; exec "$node" "$@" > "$log"',
  pipe: 'log=$2; node=$0; shift 2; "$node" "$@" | cat > "$log"',
  'slow pipe': 'reader=$1; log=$2; node=$0; shift 2; "$node" "$@" | "$node" "$reader" > "$log"',
  terminal: 'log=$2; node=$0; shift 2; exec script -qec "$node $*" "$log" > /dev/null'
}

export const loggers = [
  { name: 'no logging', logger: 'none' },
  { name: 'weir-log', logger: 'weir', env: { WEIR_WHEN_FULL: 'shed' } },
  { name: 'weir-log, block', logger: 'weir', env: { WEIR_WHEN_FULL: 'block' } },
  { name: 'pino', logger: 'pino' },
  { name: 'winston, file', logger: 'winston-file', only: 'file' }
]

async function freePort() {
  const probe = net.createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}

// run uploads the table several times, and returns the measures of the server.
async function run(folder, { logger, env }, output) {
  const port = await freePort()
  const measures = path.join(folder, 'measures.json')
  const log = path.join(folder, 'log')
  for (const file of [measures, log]) fs.rmSync(file, { force: true })
  const args = [here('slow-reader.cjs'), log, server, '--port', String(port), '--folder', folder, logger]
  const child = spawn('sh', ['-c', outputs[output], process.execPath, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env, LOG_EACH: 'row', NODE_ENV: 'production', WEIR_LAB_MEASURES: measures, NODE_PATH: [folder, here('../node_modules')].join(':') }
  })
  const ended = once(child, 'exit')
  const url = `http://127.0.0.1:${port}`
  while (!await fetch(url + '/healthz').then((r) => r.ok, () => false)) await delay(20)
  const pid = processOf(port)
  const began = performance.now()
  for (let i = 0; i < uploads; i++) await (await fetch(url, { method: 'POST', body: table })).text()
  const seconds = (performance.now() - began) / 1000
  const peak = Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
  process.kill(pid, 'SIGTERM')
  await ended
  const value = Object.fromEntries(JSON.parse(fs.readFileSync(measures, 'utf8')).map((m) => [m.name, m.value]))
  const linesOf = (file) => fs.existsSync(file) ? fs.readFileSync(file, 'latin1').split('\n').filter((line) => line.startsWith('{')).length : 0
  const got = linesOf(logger === 'winston-file' ? path.join(folder, 'winston.log') : log)
  fs.rmSync(path.join(folder, 'winston.log'), { force: true })
  const calls = value['log calls']
  return { rate: uploads / seconds, peak, lost: logger === 'none' ? 0 : Math.max(0, calls - got), stall: value['event-loop delay max'] / 1000 }
}

// processOf returns the process that listens at a port.
function processOf(port) {
  const inode = fs.readFileSync('/proc/net/tcp', 'latin1').split('\n').map((line) => line.trim().split(/\s+/))
    .find(([, local, , state]) => state === '0A' && parseInt(local.split(':')[1], 16) === port)[9]
  return fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).find((pid) => {
    try {
      return fs.readdirSync(`/proc/${pid}/fd`).some((fd) => fs.readlinkSync(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`)
    } catch {
      return false // ended, or of another user
    }
  }) | 0
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]

// upload returns the medians for each output and logger.
export async function upload() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weir-bench-'))
  fs.symlinkSync(here('..'), path.join(folder, 'weir-log'))
  const results = []
  for (const output of Object.keys(outputs)) {
    const rows = loggers.filter(({ only }) => only === undefined || only === output).map((logger) => ({ logger, runs: [] }))
    for (let pass = 0; pass < passes; pass++) for (const row of rows) row.runs.push(await run(folder, row.logger, output))
    for (const { logger, runs } of rows) {
      const of = (key) => median(runs.map((r) => r[key]))
      results.push({ output, name: logger.name, rate: of('rate'), peak: of('peak'), stall: of('stall'), lost: of('lost') })
    }
  }
  fs.rmSync(folder, { recursive: true })
  return results
}
