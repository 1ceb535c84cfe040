'use strict'
// Holds the events of requests, and writes those of the interesting ones.
const assert = require('node:assert')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const path = require('node:path')
const { test } = require('node:test')
const { setTimeout: delay } = require('node:timers/promises')

const weir = require('weir-log')
const { Percent } = require('../src/slowest.js')
const { fraction } = require('../src/trace.js')
const { collector } = require('./collector.js')

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const lastEvent = ['http request completed']
const allEvents = ['http request received', 'handling', ...lastEvent]

async function until(condition) {
  for (let i = 0; !condition(); i++) {
    assert.ok(i < 1000, 'waited for ten seconds')
    await delay(10)
  }
}

// served starts a server with a handler, and returns its URL and log.
async function served(t, handler, options) {
  const { log, events } = collector({ level: 'debug' })
  const requests = weir.middleware(log, options)
  const server = http.createServer((request, response) => requests(request, response, () => handler(request, response, log)))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => { server.close(); server.closeAllConnections() })
  const names = () => events().map((e) => e.event)
  const completed = (n = 1) => until(() => names().filter((name) => name === lastEvent[0]).length === n)
  return { url: `http://127.0.0.1:${server.address().port}`, log, events, names, completed }
}

const hour = 3_600_000
for (const { name, keep = { slowerThan: hour }, headers = {}, status = 200, want } of [
  { name: 'quick and without failure', want: lastEvent },
  { name: 'a mistake of the client', status: 404, want: lastEvent },
  { name: 'an error of the server', status: 500, want: allEvents },
  { name: 'a first request has none to compare with', keep: {}, want: lastEvent },
  { name: 'in the share', keep: { share: 1 }, want: allEvents },
  { name: 'outside of the share', keep: { share: 1e-9 }, want: lastEvent },
  { name: 'sampled by a trusted client', keep: { trust: () => true }, headers: { traceparent }, want: allEvents },
  { name: 'sampled by another client', keep: { trust: () => false }, headers: { traceparent }, want: lastEvent },
  { name: 'sampled, and nobody is trusted', headers: { traceparent }, want: lastEvent },
  { name: 'not sampled', keep: { trust: () => true }, headers: { traceparent: traceparent.slice(0, -1) + '0' }, want: lastEvent }
]) {
  test(`interesting requests write all events: ${name}`, async (t) => {
    const { url, log, names, completed } = await served(t, async (request, response, log) => {
      await delay(1)
      log.debug('handling')
      assert.deepStrictEqual(names(), [])
      assert.strictEqual(log.stats().held, 2)
      response.writeHead(status).end()
    }, { keep })
    await (await fetch(url, { headers })).text()
    await completed()
    assert.deepStrictEqual(names(), want)
    const { emitted, held, discarded } = log.stats()
    assert.deepStrictEqual({ emitted, held, discarded }, { emitted: want.length, held: 0, discarded: 3 - want.length })
  })
}

test('a slow request writes all events', async (t) => {
  const { url, names, completed } = await served(t, async (request, response, log) => {
    log.debug('handling')
    await delay(20)
    response.end()
  }, { keep: { slowerThan: 1 } })
  await (await fetch(url)).text()
  await completed()
  assert.deepStrictEqual(names(), allEvents)
})

test('a request whose client disconnects writes all events', async (t) => {
  const { url, names, completed } = await served(t, (request, response, log) => {
    log.debug('handling')
    client.destroy()
  }, { keep: { slowerThan: hour } })
  const client = http.get(url).on('error', () => {})
  await completed()
  assert.deepStrictEqual(names(), allEvents)
})

test('a warning writes the events that led to it at once', async (t) => {
  const { url, names, completed } = await served(t, (request, response, log) => {
    log.debug('handling')
    log.warn('stock is low')
    log.debug('after it')
    assert.deepStrictEqual(names(), ['http request received', 'handling', 'stock is low', 'after it'])
    response.end()
  }, { keep: { slowerThan: hour } })
  await (await fetch(url)).text()
  await completed()
})

test('events after the end of the request are written', async (t) => {
  const { url, log, events, completed } = await served(t, (request, response, log) => {
    response.end()
    response.once('close', () => setTimeout(() => log.info('receipt was sent'), 1))
  }, { events: 'completed', keep: { slowerThan: hour } })
  await (await fetch(url)).text()
  await completed()
  await until(() => events().length === 2)
  assert.strictEqual(events()[1].event, 'receipt was sent')
  assert.strictEqual(log.stats().discarded, 0)
})

test('a request with too many events writes the newest of them, and says how many are missing', async (t) => {
  const { url, log, events, names, completed } = await served(t, (request, response, log) => {
    for (let i = 0; i < 200; i++) log.info(String(i))
    response.writeHead(502).end()
  }, { events: 'completed', keep: { bytes: 4000 } })
  await (await fetch(url)).text()
  await completed()
  const missing = events().at(-1).data.discarded
  assert.ok(missing > 100 && missing < 200, String(missing))
  assert.deepStrictEqual(names(), [...Array.from({ length: 200 }, (_, i) => String(i)).slice(missing), ...lastEvent])
  assert.strictEqual(log.stats().discarded, missing)
})

test('events outside of requests are not held', () => {
  const { log, lines } = collector()
  weir.middleware(log, { keep: {} })
  log.info('event')
  assert.strictEqual(lines.length, 1)
})

test('wrong options of keep are errors', () => {
  const { log } = collector()
  for (const [keep, message] of [
    [{ slowerthan: 1 }, /^weir.middleware: there is no option keep.slowerthan: did you mean keep.slowerThan\?/],
    [{ share: '1%' }, /^weir.middleware: option keep.share must be a number from 0 to 1, not '1%'$/],
    [{ share: 2 }, /^weir.middleware: option keep.share must be a number from 0 to 1, not 2$/],
    [{ trust: ['10.0.0.0/8'] }, /^weir.middleware: option keep.trust must be a function, not /],
    [true, /^weir.middleware: option keep must be an object, not true$/]
  ]) assert.throws(() => weir.middleware(log, { keep }), { name: 'TypeError', message })
})

// The values of Go are in log/traceid/traceid_test.go.
test('the share chooses the same requests as the front door and services in Go', () => {
  assert.strictEqual(fraction('4bf92f3577b34da6a3ce929d0e0e4736'), 0.6072442409082988)
  assert.strictEqual(fraction('abcdefghijklmnop'), 0.7852257441921935)
  assert.strictEqual(fraction('6162636465666768696a6b6c6d6e6f70'), 0.7852257441921935)
  assert.strictEqual(fraction('c9bf9e57-1685-4c89-bafb-ff5af830be8a'), 0.13562976206494348)
})

test('one percent of durations is above the estimate', () => {
  const percent = new Percent()
  let above = 0
  for (let i = 0, state = 1; i < 101_000; i++) {
    state = (state * 48271) % 2147483647
    const isAbove = percent.add(-2e7 * Math.log(state / 2147483647))
    if (isAbove && i >= 1000) above++
  }
  assert.ok(above > 950 && above < 1050, String(above))
})

// A server in a process of its own. ended returns its events and its end.
async function started(t) {
  const child = spawn(process.execPath, [path.join(__dirname, 'programs', 'keep.js')], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  const out = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr']) child[stream].setEncoding('utf8').on('data', (text) => { out[stream] += text })
  const closed = once(child, 'close')
  await until(() => out.stderr.endsWith('\n'))
  const ended = async () => {
    const [code, signal] = await closed
    return { code, signal, events: out.stdout.split('\n').slice(0, -1).map((line) => JSON.parse(line)) }
  }
  return { child, url: out.stderr.trim(), ended }
}

// waiting sends a request that gets no end of its response.
async function waiting(url) {
  const [response] = await once(http.get(url + '/waits').on('error', () => {}), 'response')
  response.on('error', () => {})
}

const namesOf = (events, path) => {
  const ids = new Set(events.filter((e) => e.http?.path === path).map((e) => e.trace_id))
  return events.filter((e) => ids.has(e.trace_id)).map((e) => e.event)
}

test('a process counts each event once, and writes those of requests in flight when a signal ends it', async (t) => {
  const { child, url, ended } = await started(t)
  for (let i = 0; i < 50; i++) await (await fetch(url + (i % 10 === 0 ? '/fails' : '/succeeds'))).text()
  await waiting(url)
  const stats = await (await fetch(url + '/stats')).json()
  child.kill('SIGTERM')
  const { signal, events } = await ended()
  assert.strictEqual(signal, 'SIGTERM')
  assert.deepStrictEqual(namesOf(events, '/succeeds'), Array(45).fill(lastEvent[0]))
  assert.deepStrictEqual(namesOf(events, '/fails'), Array(5).fill(allEvents).flat())
  assert.deepStrictEqual(namesOf(events, '/waits'), allEvents.slice(0, 2))
  const { emitted, written, dropped, waiting: waits, held, discarded } = stats
  assert.deepStrictEqual({ emitted, held, discarded }, { emitted: 45 + 5 * 3, held: 4, discarded: 45 * 2 })
  assert.strictEqual(emitted, written + dropped + waits)
})

test('an uncaught exception writes the events of the requests in flight', async (t) => {
  const { url, ended } = await started(t)
  await waiting(url)
  await assert.rejects(fetch(url + '/crashes'))
  const { code, events } = await ended()
  assert.strictEqual(code, 1)
  for (const path of ['/waits', '/crashes']) assert.deepStrictEqual(namesOf(events, path), allEvents.slice(0, 2))
})
