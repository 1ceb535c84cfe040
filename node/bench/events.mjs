// The time of one event, beside pino: mitata measures each row in turns with the others, several times.
import { createRequire } from 'node:module'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

import { measure } from 'mitata'
import pino from 'pino'

import weir from '../index.mjs'

const passes = 9
const passTime = 100e6 // in ns

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weir-bench-'))
const file = (name) => path.join(folder, name)

// Ten fields that all events of the logger have.
const shared = {
  region: 'eu-west-2', instance: 'i-0a1b2c3d4e5f', build: '2026.11.23-1', team: 'discovery', tier: 1, canary: false, zone: 'b',
  pod: 'search-7d9f8b6c5-x2x4q', commit: '4bf92f3577b34da6', runtime: 'node'
}

let number = 0
const http = () => ({
  status_code: 200, method: 'GET', scheme: 'https', host: 'www.example.com', port: 8443, path: '/economy/inflation',
  query: 'page=2&sort=asc', started_at: '2026-11-21T09:30:15.1Z', ended_at: '2026-11-21T09:30:15.105308Z',
  duration: 5308000 + number++, response_content_length: 1234, route: '/{topic}', client: '192.0.2.7',
  protocol: 'HTTP/1.1', user_agent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36', referer: 'https://example.org/'
})
const error = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED', port: 5432 })
void error.stack

const toWeir = (name, batch) => weir({ namespace: 'search', to: file(name), queue: { batch } }).child(shared)
const toPino = (name, minLength) =>
  pino({ base: { namespace: 'search' } }, pino.destination({ dest: file(name), sync: true, minLength })).child(shared)

// The calls of a case for each logger. pino gets the http object and the fields in one literal, which is its fastest form.
const calls = {
  http: {
    weir: (log) => () => log.with({ http: http() }).info('http request completed', {
      rows: number, file: 'census-2021.csv', dataset: 'population-estimates', edition: 'time-series', version: 3, took: 12.5,
      ok: true, retries: 0, user: 'ada.lovelace@example.com', note: 'imported without errors'
    }),
    pino: (log) => () => log.info({
      http: http(),
      rows: number, file: 'census-2021.csv', dataset: 'population-estimates', edition: 'time-series', version: 3, took: 12.5,
      ok: true, retries: 0, user: 'ada.lovelace@example.com', note: 'imported without errors'
    }, 'http request completed')
  },
  row: {
    weir: (log) => () => log.info('row', { number: number++, text: '17,Ada Lovelace,1815-12-10,42.50' }),
    pino: (log) => () => log.info({ number: number++, text: '17,Ada Lovelace,1815-12-10,42.50' }, 'row')
  },
  error: {
    weir: (log) => () => log.error('could not save', error, { id: number++ }),
    pino: (log) => () => log.error({ err: error, id: number++ }, 'could not save')
  },
  disabled: {
    weir: (log) => () => log.debug('row', { number: number++ }),
    pino: (log) => () => log.debug({ number: number++ }, 'row')
  }
}

const cases = [
  { name: 'http event, 10 + 10 fields, batched', call: 'http', batch: 65536, minLength: 4096, result: 'node_http_event_batched', target: 0.45 },
  { name: 'http event, one write per event', call: 'http', batch: 0, minLength: 0, result: 'node_http_event_written', target: 0.65 },
  { name: 'event with 2 fields, 10 shared, batched', call: 'row', batch: 65536, minLength: 4096, result: 'node_event_batched' },
  { name: 'error with a stack, batched', call: 'error', batch: 65536, minLength: 4096, result: 'node_error_batched' },
  { name: 'disabled level', call: 'disabled', batch: 65536, minLength: 4096, result: 'node_disabled' }
]

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]

async function timeOf(call, name) {
  const { p50 } = await measure(call, { min_cpu_time: passTime }) // of samples of 4,096 calls, with their writes
  fs.truncateSync(file(name))
  return p50
}

// events measures all cases and returns their medians in ns, and ratios.
export async function events() {
  const results = []
  for (const [i, { name, call, batch, minLength, result, target }] of cases.entries()) {
    const rows = {
      weir: { file: `weir-${i}`, times: [], call: calls[call].weir(toWeir(`weir-${i}`, batch)) },
      pino: { file: `pino-${i}`, times: [], call: calls[call].pino(toPino(`pino-${i}`, minLength)) }
    }
    for (let pass = 0; pass < passes; pass++) for (const row of Object.values(rows)) row.times.push(await timeOf(row.call, row.file))
    const ratios = rows.weir.times.map((time, pass) => time / rows.pino.times[pass])
    results.push({ name, weir: median(rows.weir.times), pino: median(rows.pino.times), ratio: median(ratios), result, target })
  }
  fs.rmSync(folder, { recursive: true })
  return results
}

export const peers = { pino: createRequire(import.meta.url)('pino/package.json').version }
