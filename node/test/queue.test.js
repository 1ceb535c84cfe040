'use strict'
// Tests the queue with targets that fail at every place.
const assert = require('node:assert')
const { test } = require('node:test')

const { newForm } = require('../src/form.js')
const { Queue } = require('../src/queue.js')
const { Target } = require('../src/target.js')

const json = (number, text = '') => JSON.stringify({ number, text })

// A Fake is a target that takes as many bytes as limit returns, or throws the code that it returns. limit gets the number
// of the write and the bytes that were taken before.
class Fake extends Target {
  taken = Buffer.alloc(0)
  writes = 0
  constructor(limit = () => Infinity) {
    super()
    this.limit = limit
  }

  write(bytes, begin, end) { return this.writeBytes(bytes, begin, end) }

  writeBytes(bytes, begin, end) {
    const most = this.limit(this.writes++, this.taken.length)
    if (typeof most === 'string') throw Object.assign(new Error(most), { code: most })
    const n = Math.min(most, end - begin)
    this.taken = Buffer.concat([this.taken, bytes.subarray(begin, begin + n)])
    return n
  }

  get lines() { return this.taken.toString().split('\n').slice(0, -1) }
}

function newQueue(t, target, options = {}) {
  const queue = new Queue(target, newForm('json', 16384, false), {
    bytes: 8 << 20, whenFull: 'shed', wait: 0, batch: 64 << 10, heartbeat: 0, exitTimeout: 0, fallback: false, ...options
  }, (event, severity, fields) => JSON.stringify({ event, severity, data: fields }))
  t.after(() => queue.close())
  return queue
}

function checkIdentity(queue) {
  const { emitted, written, dropped, waiting } = queue.stats()
  assert.strictEqual(emitted, written + dropped + waiting)
}

test('the lines of a turn are one write', async (t) => {
  const target = new Fake()
  const queue = newQueue(t, target)
  for (let i = 0; i < 10; i++) queue.put(3, json(i))
  assert.strictEqual(target.writes, 0)
  await new Promise(setImmediate)
  assert.strictEqual(target.writes, 1)
  assert.strictEqual(target.lines.length, 10)
})

test('a full batch is written at once', (t) => {
  const target = new Fake()
  const queue = newQueue(t, target, { batch: 100 })
  for (let i = 0; i < 10; i++) queue.put(3, json(i, 'x'.repeat(30)))
  assert.ok(target.writes >= 3)
})

for (const batch of [64 << 10, 0]) {
  test(`a short write at any byte loses and repeats nothing, with a batch of ${batch}`, (t) => {
    const whole = new Fake()
    const first = newQueue(t, whole)
    const texts = ['plain', 'é😀', '\x7f\ud800', 'x'.repeat(50)]
    for (const [i, text] of texts.entries()) first.put(3, json(i, text))
    first.flush()
    for (let at = 1; at < whole.taken.length; at++) {
      let wasFull = false
      const target = new Fake((n, taken) => {
        if (wasFull || taken < at) return wasFull ? Infinity : at - taken
        wasFull = true
        return 'EAGAIN'
      })
      const queue = newQueue(t, target, { batch })
      for (const [i, text] of texts.entries()) queue.put(3, json(i, text))
      queue.flush(1000)
      assert.deepStrictEqual(target.taken, whole.taken, `after ${at} bytes`)
      const { written, bytes, waitingBytes } = queue.stats()
      assert.deepStrictEqual({ written, bytes, waitingBytes }, { written: 4, bytes: whole.taken.length, waitingBytes: 0 })
    }
  })
}

test('a line that fails after any byte does not merge with the next', (t) => {
  const line = json(0, 'torn')
  for (let at = 0; at <= line.length; at++) {
    const target = new Fake((n) => at > 0 && n === 0 ? at : n === (at > 0 ? 1 : 0) ? 'EPIPE' : 1000)
    const queue = newQueue(t, target)
    queue.put(3, line)
    queue.flush()
    const { written, dropped } = queue.stats()
    const isWhole = at === line.length // only its newline is missing
    assert.deepStrictEqual([written, dropped], isWhole ? [1, 0] : [0, 1], `after ${at} bytes`)
    queue.put(3, json(1))
    assert.strictEqual(queue.stats().waiting, 1)
  }
})

test('a broken target is tried again a second later, on a new line, and the loss is reported', (t) => {
  let now = 1000
  t.mock.method(performance, 'now', () => now)
  let works = false
  const target = new Fake((n) => n === 0 ? 5 : works ? 1000 : 'EIO?')
  const queue = newQueue(t, target)
  queue.put(3, json(0))
  queue.put(2, json(1))
  queue.flush()
  works = true
  queue.put(3, json(2))
  queue.flush()
  assert.strictEqual(queue.stats().dropped, 3)
  now += 1000
  queue.put(3, json(3))
  queue.flush()
  const [torn, written, report] = target.lines
  assert.strictEqual(torn, json(0).slice(0, 5))
  assert.strictEqual(written, json(3))
  const { event, severity, data } = JSON.parse(report)
  assert.deepStrictEqual([event, severity], ['log events dropped', 2])
  assert.deepStrictEqual(data.count, { info: { write_error: 2 }, warn: { write_error: 1 } })
  assert.match(data.since, /^\d{4}-/)
  checkIdentity(queue)
})

test('many lines that are written one by one wait together', (t) => {
  let stalled = true
  const target = new Fake(() => stalled ? 'EAGAIN' : Infinity)
  const queue = newQueue(t, target, { batch: 0, bytes: 4 << 20, whenFull: 'drop' })
  let number = 0
  while (queue.stats().dropped === 0) queue.put(3, json(number++))
  stalled = false
  assert.ok(queue.flush(60_000))
  assert.ok(target.writes < number / 10, `${target.writes} writes for ${number} lines`)
  const rows = target.lines.filter((line) => !line.includes('log events dropped'))
  assert.deepStrictEqual(rows, Array.from({ length: number - 1 }, (_, i) => json(i)))
})

const policies = {
  shed: { debug: 0.5, info: 0.75, warn: 0.875, error: 1, fatal: 1 },
  drop: { debug: 1, info: 1, warn: 1, error: 1, fatal: 1 }
}
for (const [policy, shares] of Object.entries(policies)) {
  test(`${policy} drops each level at its part of the queue`, (t) => {
    for (const [severity, level] of ['fatal', 'error', 'warn', 'info', 'debug'].entries()) {
      const target = new Fake(() => 'EAGAIN')
      const queue = newQueue(t, target, { bytes: 80_000, whenFull: policy })
      const line = json(0, 'x'.repeat(100 - json(0).length - 1)) // 100 bytes
      const lines = severity === 0 ? 1 : 1000 // each fatal event waits a second for the target
      if (severity === 0) for (let i = 0; i < 799; i++) queue.put(1, line)
      for (let i = 0; i < lines; i++) queue.put(severity, line)
      const { waiting, dropped, losses } = queue.stats()
      assert.strictEqual(waiting, 800 * shares[level], level)
      if (severity > 0) assert.deepStrictEqual(losses, { [level]: { full: dropped } })
      checkIdentity(queue)
    }
  })
}

test('block waits until there is space, or drops after its wait', (t) => {
  let stalled = true
  const target = new Fake((n) => stalled && n < 20 ? 'EAGAIN' : Infinity)
  const queue = newQueue(t, target, { bytes: 1000, whenFull: 'block' })
  for (let i = 0; i < 100; i++) queue.put(3, json(i))
  queue.flush()
  assert.strictEqual(queue.stats().dropped, 0)
  assert.deepStrictEqual(target.lines.map((line) => JSON.parse(line).number), Array.from({ length: 100 }, (_, i) => i))

  const never = newQueue(t, new Fake(() => 'EAGAIN'), { bytes: 100, whenFull: 'block', wait: 5 })
  for (let i = 0; i < 10; i++) never.put(3, json(i))
  assert.ok(never.stats().losses.info.full > 0)
  checkIdentity(never)
})

test('events that were dropped are reported at most once a second, each once', (t) => {
  let now = 1000
  t.mock.method(performance, 'now', () => now)
  let stalled = true
  const target = new Fake(() => stalled ? 'EAGAIN' : Infinity)
  const queue = newQueue(t, target, { bytes: 1000 })
  const burst = () => {
    stalled = true
    for (let i = 0; i < 100; i++) queue.put(3, json(i))
    stalled = false
    now += 100
    queue.flush(0)
  }
  burst()
  burst()
  const reports = () => target.lines.map((line) => JSON.parse(line)).filter((e) => e.event === 'log events dropped')
  assert.strictEqual(reports().length, 1)
  now += 1000
  burst()
  queue.close()
  const reported = reports().reduce((sum, e) => sum + e.data.count.info.full, 0)
  assert.strictEqual(reported, queue.stats().dropped)
  assert.strictEqual(target.lines.length, queue.stats().written)
})

test('log totals proves that the log is complete', (t) => {
  const target = new Fake()
  const queue = newQueue(t, target, { heartbeat: 10_000 })
  for (let i = 0; i < 5; i++) queue.put(3, json(i))
  queue.close()
  const totals = JSON.parse(target.lines.at(-1))
  assert.strictEqual(totals.event, 'log totals')
  const { emitted, written, dropped, waiting } = totals.data
  assert.deepStrictEqual({ emitted, written, dropped, waiting }, { emitted: 5, written: 5, dropped: 0, waiting: 0 })
  assert.strictEqual(target.lines.length, 6)
})

// A random sequence of bursts and faults. The lines of the target are parsed: each is whole or a torn one, and those
// that are counted as written are all there, in order.
test('identity holds for random faults', (t) => {
  const faults = ['EAGAIN', 'ENOSPC', 'EPIPE', 'EIO']
  for (let seed = 1; seed <= 300; seed++) {
    let state = seed * 2654435761 >>> 0
    const random = (n) => (state = (state * 1664525 + 1013904223) >>> 0) / 2 ** 32 * n | 0
    let faulty = true
    const target = new Fake(() => !faulty || random(3) === 0 ? Infinity : random(2) === 0 ? 1 + random(200) : faults[random(4)])
    const queue = newQueue(t, target, { bytes: 2000, batch: [0, 300, 65536][random(3)], whenFull: ['shed', 'drop'][random(2)] })
    let now = 1000
    const clock = t.mock.method(performance, 'now', () => now)
    let number = 0
    for (let step = 0; step < 30; step++) {
      now += random(700)
      for (let i = random(20); i > 0; i--) queue.put(1 + random(4), json(number++, ['x', 'é', '\x7f'][random(3)].repeat(random(90))))
      if (random(2) === 0) queue.flush(0)
      checkIdentity(queue)
    }
    faulty = false
    now += 2000
    queue.close()
    clock.mock.restore()
    checkIdentity(queue)
    const { waiting, written } = queue.stats()
    assert.strictEqual(waiting, 0)
    let whole = 0
    let last = -1
    for (const line of target.taken.toString('latin1').split('\n')) {
      let event
      try { event = JSON.parse(line) } catch { continue } // torn
      whole++
      if (event.number === undefined) continue
      assert.ok(event.number > last, `seed ${seed}: ${event.number} after ${last}`)
      last = event.number
    }
    assert.strictEqual(whole, written, `seed ${seed}`)
  }
})
