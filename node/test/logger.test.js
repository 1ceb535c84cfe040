'use strict'
const assert = require('node:assert')
const { test } = require('node:test')
const vm = require('node:vm')

const weir = require('weir-log')
const { collector } = require('./collector.js')

test('an event has its keys in order', () => {
  const { log, lines } = collector({ namespace: 'search' })
  log.with({ trace_id: 't', http: { path: '/a' } }).error('could not save', new Error('full'), { id: 7 })
  assert.match(lines[0], /^\{"created_at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z","namespace":"search","event":"could not save","trace_id":"t","severity":1,"http":\{"status_code":0,"path":"\/a"\},"data":\{"id":7\},"errors":\[\{"message":"full","stack_trace":\[\{"file":"[^"]+logger\.test\.js","line":\d+,"function":"[^"]*"\}/)
})

test('each level has its severity', () => {
  const { log, events } = collector({ level: 'debug' })
  for (const level of ['fatal', 'error', 'warn', 'info', 'debug']) log[level](level)
  assert.deepStrictEqual(events().map((e) => e.severity), [0, 1, 2, 3, 4])
})

test('methods below the level do nothing', () => {
  const { log, lines } = collector({ level: 'warn' })
  log.info('a', { get b() { throw new Error('was read') } })
  log.child({}).debug('a')
  assert.deepStrictEqual(lines, [])
  assert.strictEqual(log.info, log.child({ a: 1 }).debug)
})

test('a child has the fields and parts of its parent', () => {
  const { log, events } = collector()
  const child = log.child({ a: 1 }).with({ auth: { identity: 'ada', identity_type: 'user' } }).child({ b: 2 })
  child.info('one', { c: 3 })
  child.info('two')
  log.info('three')
  const [one, two, three] = events()
  assert.deepStrictEqual(one.data, { a: 1, b: 2, c: 3 })
  assert.deepStrictEqual(two.data, { a: 1, b: 2 })
  assert.deepStrictEqual(two.auth, { identity: 'ada', identity_type: 'user' })
  assert.strictEqual(three.data, undefined)
})

test('the fields of a child are encoded once', () => {
  const { log, events } = collector()
  let reads = 0
  const child = log.child({ get a() { return ++reads } })
  const after = reads
  child.info('one')
  child.info('two')
  assert.strictEqual(reads, after)
  assert.deepStrictEqual(events()[0].data, events()[1].data)
})

test('created_at is the time of the wall clock, in order', () => {
  const { log, events } = collector()
  const before = Date.now()
  for (let i = 0; i < 1000; i++) log.info('event')
  const after = Date.now()
  const times = events().map((e) => e.created_at)
  for (const [i, time] of times.entries()) {
    const ms = Date.parse(time)
    assert.ok(ms >= before && ms <= after, `${time} is not between ${before} and ${after}`)
    const padded = (t) => t.replace('Z', '').padEnd(30, '0')
    if (i > 0) assert.ok(padded(times[i - 1]) <= padded(time), `${times[i - 1]} before ${time}`)
  }
})

const cycle = { name: 'cycle' }
cycle.self = cycle
const deep = {}
for (let i = 0, o = deep; i < 100_000; i++) o = o.o = {}
const revoked = Proxy.revocable({}, {})
revoked.revoke()

// The value of a field, and its JSON.
const values = [
  ['a string with everything', 'a"\\\n\x7f\x85\u2028\u202e\ud800é😀', '"a\\"\\\\\\n\\u007f\\u0085\\u2028\\u202e\\ufffdé😀"'],
  ['an escaped surrogate that is none', '\\ud800', '"\\\\ud800"'],
  ['a BigInt', 2n ** 64n, '18446744073709551616'],
  ['NaN', NaN, '"NaN"'],
  ['an infinity', -Infinity, '"-Inf"'],
  ['-0', -0, '-0'],
  ['a Date', new Date(1500), '"1970-01-01T00:00:01.5Z"'],
  ['an invalid Date', new Date(NaN), '"!ERROR: invalid date"'],
  ['a Map', new Map([['b', 1], ['a', new Map()]]), '{"b":1,"a":{}}'],
  ['a Set', new Set([1, 'a']), '[1,"a"]'],
  ['a Buffer', Buffer.from('hi'), '"aGk="'],
  ['an ArrayBuffer', new Uint8Array([104, 105]).buffer, '"aGk="'],
  ['numbers', new Float64Array([0.5, NaN]), '[0.5,"NaN"]'],
  ['an array with holes', [1, , undefined, () => {}], '[1,null,null,"!ERROR: a function has no text"]'], // eslint-disable-line no-sparse-arrays
  ['a class instance', new (class A { #hidden = 1; shown = 2; get method() { return this.#hidden } })(), '{"shown":2}'],
  ['toJSON', { toJSON() { return { a: 1 } } }, '{"a":1}'],
  ['toJSON that throws', { toJSON() { throw new Error('no') } }, '"!ERROR: no"'],
  ['a getter that throws', { a: 1, get b() { throw new Error('no') }, c: 2 }, '{"a":1,"b":"!ERROR: no","c":2}'],
  ['a getter that throws nothing', { get b() { throw undefined } }, '{"b":"!ERROR: undefined"}'], // eslint-disable-line no-throw-literal
  ['a symbol', Symbol('x'), '"!ERROR: a symbol has no text"'],
  ['null', null, 'null'],
  ['an error', new Error('as text'), '"as text"'],
  ['an error of another realm', vm.runInNewContext('new Error("as text")'), '"as text"'],
  ['a boxed string', Object('s'), '"s"'],
  ['a regular expression', /a"/g, '"/a\\"/g"'],
  ['a URL', new URL('https://example.com/?a'), '"https://example.com/?a"'],
  ['no prototype', Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
  ['an instant', { epochNanoseconds: 1_000_000_001n }, '"1970-01-01T00:00:01.000000001Z"'],
  ['a revoked proxy', revoked.proxy, /^"!ERROR: .*revoked/],
  ['a cycle', cycle, '{"name":"cycle","self":"!ERROR: a cycle"}'],
  ['the same object twice', [[], []].map((_, i, all) => all[0]), '[[],[]]'],
  ['100,000 objects in each other', deep, /"!ERROR: more than 100 objects in each other"\}+$/],
  ['a toJSON that returns itself', function () { const o = { a: 1 }; o.toJSON = () => o; return o }(), /^"!ERROR: /],
  ['a toJSON without end', { toJSON: function more() { return { toJSON: more } } }, /^"!ERROR: more than 100 objects in each other"$/],
  ['an array of another prototype', Object.setPrototypeOf([1], Object.prototype), '[1]'],
  ['a Date that is none', Object.create(Date.prototype), /^"!ERROR: /],
  ['a Map that is none', Object.create(Map.prototype), /^"!ERROR: /],
  ['keys with a meaning', JSON.parse('{"__proto__":{"a":1},"toString":2,"\\ud800":3}'), '{"__proto__":{"a":1},"toString":2,"\\ufffd":3}'],
  ['Symbol keys', { [Symbol('a')]: 1, b: 2 }, '{"b":2}'],
  ['a Proxy that fails', new Proxy({}, { ownKeys() { throw new Error('no') } }), '"!ERROR: no"']
]

for (const [name, value, want] of values) {
  test(`a field: ${name}`, () => {
    const { log, lines } = collector()
    log.info('event', { value })
    log.child({ value }).info('event')
    for (const line of lines) {
      const json = /"data":\{"value":(.*?)\}(?:,"errors":.*)?\}\n$/s.exec(line)[1]
      typeof want === 'string' ? assert.strictEqual(json, want) : assert.match(json, want)
      JSON.parse(line)
    }
  })
}

// Arguments that JSON.stringify encodes as no object, or not as their own keys.
const hidden = (toJSON) => Object.defineProperty({ a: 1 }, 'toJSON', { value: toJSON })
let proxyReads = 0
const fieldsOf = [
  ['a hidden toJSON that returns a string', hidden(() => 'x'), '{"value":"x"}'],
  ['a hidden toJSON that returns an object', hidden(() => ({ b: 2 })), '{"b":2}'],
  ['an array', [1, 2], '{"0":1,"1":2}'],
  ['an array of another prototype', Object.setPrototypeOf([1, 2], Object.prototype), '{"0":1,"1":2}'],
  ['a Proxy of an array', new Proxy([1, 2], { getPrototypeOf: () => Object.prototype }), '{"0":1,"1":2}'],
  ['a Proxy with a toJSON when it is encoded', new Proxy({ a: 1 }, {
    get: (target, key) => key === 'toJSON' && ++proxyReads % 2 === 0 ? () => 'x' : target[key]
  }), '{"a":1}']
]

for (const [name, value, want] of fieldsOf) {
  test(`fields: ${name}`, () => {
    for (const redact of [[], ['password']]) {
      const { log, lines } = collector({ redact })
      log.info('event', value)
      log.child(value).info('event')
      for (const line of lines) assert.strictEqual(/"data":(.*)\}\n$/s.exec(line)[1], want)
    }
  })
}

test('values that log do so a few times in each other, and do not mix their events', () => {
  const { log, events } = collector()
  let reads = 0
  log.info('outer', { get a() { log.info('inner', { b: { c: 1n } }); return { d: { e: reads++ } } }, f: { g: 2n } })
  assert.deepStrictEqual(events().at(-1).data, { a: { d: { e: reads - 1 } }, f: { g: 2 } })
  for (const event of events().slice(0, -1)) assert.deepStrictEqual(event.data, { b: { c: 1 } })

  const again = { get a() { log.info('again', again); return 1 } }
  const child = { get a() { log.child(child).info('child'); return 1 } }
  const error = Object.defineProperty(new Error(), 'message', { get() { log.error('error', error); return 'm' } })
  log.info('again', again)
  log.child(child).info('child')
  log.error('error', error)
  const failed = events().filter((e) => e.event === 'event could not be encoded' || e.data?.error)
  assert.ok(failed.length > 0 && events().length < 50_000, `${failed.length} of ${events().length}`)
  assert.deepStrictEqual(events().at(-1).errors[0].message, 'm')
})

test('values without end are cut', () => {
  const { log, events } = collector()
  const sparse = []
  sparse[1e9] = 1
  const endless = new Map()
  endless[Symbol.iterator] = function* () { for (let i = 0; ; i++) yield [`k${i}`, i % 2 ? i : undefined] }
  const long = new Proxy([], { get: (target, key) => key === 'length' ? 1e15 : target[key] })
  for (const value of [sparse, endless, long, Array(1e6).fill(0)]) {
    log.info('event', { value })
    log.info('event', value === endless ? endless : [value])
  }
  for (const event of events()) assert.ok(event.truncated.length > 0)
})

test('a BigInt stays a number, whatever its prototype has', (t) => {
  BigInt.prototype.toJSON = function () { return this.toString() }
  t.after(() => delete BigInt.prototype.toJSON)
  const { log, lines } = collector()
  log.with({ http: { duration: 5n } }).info('event', { a: 2n ** 64n })
  assert.match(lines[0], /"duration":5\},"data":\{"a":18446744073709551616\}/)
})

// Numbers of the http object, and their JSON: integers of 64 bits.
const httpNumbers = [
  [1e21, '9223372036854775807'],
  [-1e21, '-9223372036854775808'],
  [2 ** 63, '9223372036854775807'],
  [2n ** 64n, '9223372036854775807'],
  [-(2n ** 64n), '-9223372036854775808'],
  [2n ** 63n - 2n, '9223372036854775806'],
  [1.5, '1'],
  [-0.5, undefined],
  [0n, undefined],
  [Infinity, undefined],
  ['5', undefined]
]
for (const format of ['json', 'json-v1', 'ltsv', 'human']) {
  test(`numbers of http have 64 bits: ${format}`, () => {
    for (const [duration, want] of httpNumbers) {
      const { log, lines } = collector({ format })
      log.with({ http: { duration, port: duration } }).info('event')
      assert.strictEqual(lines.length, 1)
      if (format.startsWith('json')) assert.strictEqual(/"duration":(-?\d+)/.exec(lines[0])?.[1], want, String(duration))
      else assert.ok(!lines[0].startsWith('{'), lines[0])
    }
  })
}

test('an event that cannot be converted stays JSON', () => {
  for (const format of ['ltsv', 'human']) {
    const { log, events } = collector({ format })
    Object.defineProperty(Object.prototype, 'toJSON', { value: () => 'x', configurable: true }) // eslint-disable-line no-extend-native
    try {
      log.with({ http: { path: '/' } }).info('event')
    } finally {
      delete Object.prototype.toJSON
    }
    assert.strictEqual(events()[0].event, 'event')
  }
})

test('undefined is left out', () => {
  const { log, lines } = collector()
  log.info('event', { a: undefined })
  log.info('event', undefined)
  for (const line of lines) assert.doesNotMatch(line, /data/)
})

test('arguments that are no fields do not throw or lose the event', () => {
  const { log, events } = collector()
  for (const argument of [null, 5, 'text', Symbol('s'), () => {}, [1], revoked.proxy, cycle]) log.info('event', argument)
  log.info(undefined)
  log.info(new Error('instead of an event'))
  log.info({ toString() { throw new Error('no') } })
  assert.strictEqual(events().length, 11)
  assert.strictEqual(events()[2].errors[0].message, 'text')
  assert.strictEqual(events()[9].event, 'instead of an event')
})

test('huge values are cut, and cost little', () => {
  const { log, lines } = collector()
  const huge = 'é'.repeat(5_000_000)
  const many = Object.fromEntries(Array.from({ length: 300_000 }, (_, i) => [`k${i}`, i]))
  log.info('event', { huge })
  log.info('event', { list: Array(500_000).fill('abc'), huge })
  log.info('event', many)
  log.error('event', new Error(huge), { bytes: Buffer.alloc(1 << 20) })
  log.info(huge)
  assert.strictEqual(lines.length, 5)
  for (const line of lines) {
    assert.ok(Buffer.byteLength(line) <= 16 * 1024, `${Buffer.byteLength(line)} bytes`)
    assert.ok(JSON.parse(line).truncated.length > 0)
  }
})

test('no character of a line is raw that steers a terminal', () => {
  const { log, lines } = collector({ maxEventBytes: 1 << 20 })
  for (let c = 0; c < 0x10000; c += 256) {
    const text = Array.from({ length: 256 }, (_, i) => String.fromCharCode(c + i)).join(' ')
    log.info(text, { [text]: text })
  }
  for (const line of lines) {
    assert.doesNotMatch(line.slice(0, -1), /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\p{Cs}/u)
    const event = JSON.parse(line)
    assert.strictEqual(event.data[event.event], event.event)
  }
})

test('errors have causes, data and the innermost stack', () => {
  const { log, events } = collector()
  function origin() { return Object.assign(new Error('refused'), { code: 'ECONNREFUSED', address: { port: 1 } }) }
  log.error('could not load', new TypeError('loading', { cause: origin() }), { id: 1 })
  const [{ errors: [error] }] = events()
  assert.strictEqual(error.message, 'loading: refused')
  assert.strictEqual(error.stack_trace[0].function, 'origin')
  assert.strictEqual(error.stack_trace[0].file, __filename)
  assert.deepStrictEqual(error.data, { name: 'TypeError', code: 'ECONNREFUSED', address: { port: 1 } })
})

test('an AggregateError has each of its errors', () => {
  const { log, events } = collector()
  log.error('event', new AggregateError([new Error('one'), new AggregateError([new Error('two')])], 'all failed'))
  log.error('event', new AggregateError([new Error('one'), 'two']))
  assert.deepStrictEqual(events().map((e) => e.errors.map((error) => error.message)), [['all failed', 'one', 'two'], ['one', 'two']])
})

test('errors that are hostile do not throw', () => {
  const { log, events } = collector()
  const error = new Error('a')
  error.cause = new Error('b', { cause: error })
  Object.defineProperty(error, 'stack', { get() { throw new Error('no') } })
  Object.defineProperty(error, 'errors', { get() { throw new Error('no') } })
  log.error('event', error)
  log.error('event', Object.assign(new Error(), { message: 5, stack: 7, cause: revoked.proxy }))
  log.error('event', new Proxy(new Error('c'), { get() { throw new Error('no') } }))
  const joined = new AggregateError([new Error('one')], 'joined')
  joined.errors = new Proxy(joined.errors, { get() { throw new Error('no') } })
  log.error('event', joined)
  log.with({ errors: Array(2) }).info('event')
  log.with({ errors: null }).info('event')
  const [first, , , fourth, fifth, sixth] = events()
  assert.strictEqual(first.errors[0].message, 'a: b')
  assert.strictEqual(fourth.errors[0].message, 'joined')
  assert.deepStrictEqual(fifth.errors.map((e) => e.message), ['undefined', 'undefined'])
  assert.match(sixth.data.error, /^!ERROR: /)
})

test('secrets are redacted at any depth, in children, errors and queries', () => {
  const { log, lines } = collector({ redact: ['password', 'Token'] })
  const secret = 'hunter2'
  log.child({ PASSWORD: secret }).with({ http: { query: `to%6Ben=${secret}`, referer: `https://u:${secret}@x/?token=${secret}` } })
    .error('event', Object.assign(new Error('e'), { token: secret }), { a: [{ password: { b: secret } }], m: new Map([['token', secret]]) })
  assert.doesNotMatch(lines[0], /hunter2/)
  assert.strictEqual(lines[0].match(/\[redacted\]/g).length, 7)
})

test('wrong options are errors that name the place, the value and the nearest option', () => {
  const { log } = collector()
  const wrong = [
    [() => weir({ nmespace: 'x' }), /^weir: there is no option nmespace: did you mean namespace\? there are namespace, level/],
    [() => weir({ name: 'x' }), /did you mean namespace\?/],
    [() => weir({ transport: 'x' }), /^weir: there is no option transport: there are/],
    [() => weir({ constructor: 'x' }), /there is no option constructor/],
    [() => weir({ level: 'trace' }), /^weir: option level must be one of fatal, error, warn, info, debug, not 'trace'$/],
    [() => weir({ level: null }), /option level must be one of .*, not null$/],
    [() => weir({ namespace: 5 }), /option namespace must be a string, not 5$/],
    [() => weir({ format: 'JSON' }), /option format must be one of json, .*, not 'JSON'$/],
    [() => weir({ to: {} }), /option to must be 'stdout', .*, not \{\}$/],
    [() => weir({ to: -1 }), /option to must be .*, not -1$/],
    [() => weir({ to: '' }), /option to must be .*, not ''$/],
    [() => weir({ maxEventBytes: '4096' }), /option maxEventBytes must be a whole number of 0 or more, not '4096'$/],
    [() => weir({ redact: 'password' }), /option redact must be an array of strings, not 'password'$/],
    [() => weir({ redact: [/password/] }), /option redact must be an array of strings/],
    [() => weir({ queue: { whenFull: 'wait' } }), /^weir: option queue.whenFull must be one of shed, drop, block, not 'wait'$/],
    [() => weir({ queue: { whenfull: 'drop' } }), /no option queue.whenfull: did you mean queue.whenFull\?/],
    [() => weir({ queue: { wait: 0.5 } }), /option queue.wait must be a whole number of 0 or more, not 0.5$/],
    [() => weir({ queue: 'block' }), /option queue must be an object, not 'block'$/],
    [() => weir('search'), /^weir: the options must be an object, not 'search'$/],
    [() => weir(null), /the options must be an object, not null$/],
    [() => weir.middleware(log, { event: 'completed' }), /^weir.middleware: there is no option event: did you mean events\? there are events, keep$/],
    [() => weir.middleware(log, { events: 'none' }), /^weir.middleware: option events must be one of all, completed, not 'none'$/],
    [() => weir.middleware(log, 'completed'), /^weir.middleware: the options must be an object/],
    [() => weir.pinoStream(log, { messagekey: 'm' }), /^weir.pinoStream: there is no option messagekey: did you mean messageKey\?/],
    [() => weir.pinoStream(log, { errorKey: 5 }), /^weir.pinoStream: option errorKey must be a string, not 5$/],
    ...['middleware', 'pinoStream', 'winstonTransport', 'captureConsole'].map((name) =>
      [() => weir[name](console), new RegExp(`^weir.${name}: its first argument must be a logger of weir\\(\\), not `)])
  ]
  for (const [make, message] of wrong) assert.throws(make, (error) => error instanceof TypeError && message.test(error.message), message)
  assert.throws(() => weir({ to: '/no/such/folder/log' }), /ENOENT/)
  weir({ level: undefined, to: { write() {} } }) // as process.env.LEVEL may be
})

test('a writer that throws is counted, and the caller goes on', () => {
  const log = weir({ to: { write() { throw new Error('no') } } })
  log.warn('event')
  const { emitted, dropped, losses } = log.stats()
  assert.deepStrictEqual({ emitted, dropped, losses }, { emitted: 1, dropped: 1, losses: { warn: { write_error: 1 } } })
})
