'use strict'
const assert = require('node:assert')
const { test } = require('node:test')
const { inspect } = require('node:util')

const pino = require('pino')
const winston = require('winston')

const weir = require('weir-log')
const { collector } = require('./collector.js')

const error = () => Object.assign(new TypeError('refused'), { code: 'E1' })

test('pino writes events', () => {
  const { log, events } = collector({ namespace: 'shop', level: 'debug' })
  const logger = pino({ level: 'trace', base: null }, weir.pinoStream(log)).child({ tenant: 't' })
  const before = Date.now()
  logger.info({ rows: 3 }, 'order %s', 'found')
  logger.error({ err: error(), id: 7 }, 'could not save')
  logger.trace('finest')
  logger.fatal(error())
  const [found, failed, finest, fatal] = events()
  assert.deepStrictEqual([found.namespace, found.event, found.severity, found.data], ['shop', 'order found', 3, { tenant: 't', rows: 3 }])
  assert.ok(Date.parse(found.created_at) >= before)
  assert.deepStrictEqual([failed.event, failed.severity, failed.data], ['could not save', 1, { tenant: 't', id: 7 }])
  assert.deepStrictEqual([failed.errors[0].message, failed.errors[0].data], ['refused', { name: 'TypeError', code: 'E1' }])
  assert.strictEqual(failed.errors[0].stack_trace[0].function, 'error')
  assert.deepStrictEqual([finest.severity, fatal.severity, fatal.event], [4, 0, 'refused'])
})

test('pino with other formatters and times writes events', () => {
  const { log, events } = collector()
  const formatters = { level: (label) => ({ level: label }) }
  pino({ formatters, timestamp: pino.stdTimeFunctions.isoTime }, weir.pinoStream(log)).warn('a')
  pino({ timestamp: false, base: null }, weir.pinoStream(log)).info('b')
  assert.deepStrictEqual(events().map((e) => [e.event, e.severity]), [['a', 2], ['b', 3]])
})

test('pino with other keys, and errors that are none, writes events', () => {
  const { log, events } = collector()
  const keys = { messageKey: 'message', errorKey: 'error' }
  pino({ ...keys, base: null }, weir.pinoStream(log, keys)).error(error(), 'a')
  const logger = pino({ base: null }, weir.pinoStream(log))
  for (const err of [null, 'text', [1]]) logger.info({ err }, 'b')
  const [other, none, text, array] = events()
  assert.deepStrictEqual([other.event, other.errors[0].message], ['a', 'refused'])
  assert.deepStrictEqual([none.errors, text.errors[0].message, array.event], [undefined, 'text', 'b'])
})

test('pino writes integers of any size, causes, aggregates and seconds', () => {
  const { log, lines, events } = collector()
  const logger = pino({ base: null }, weir.pinoStream(log))
  logger.info({ id: 2n ** 53n + 1n, deep: [-(2n ** 64n)], text: '"12345678901234567890', float: 1234567890123456.5 }, '9007199254740993')
  assert.match(lines[0], /"event":"9007199254740993".*"data":\{"id":9007199254740993,"deep":\[-18446744073709551616\],"text":"\\"12345678901234567890","float":1234567890123456\.5\}/)
  logger.error(new AggregateError([error(), 'text'], 'many'))
  pino({ base: null, serializers: { err: pino.stdSerializers.errWithCause } }, weir.pinoStream(log))
    .error(new Error('outer', { cause: error() }))
  pino({ base: null, timestamp: pino.stdTimeFunctions.unixTime }, weir.pinoStream(log)).info('seconds')
  const [, many, caused, seconds] = events()
  assert.deepStrictEqual(many.errors.map((one) => one.message.split(' ')[0]), ['many', 'refused', 'text'])
  assert.deepStrictEqual([caused.errors[0].message, caused.errors[0].data], ['outer: refused', { name: 'TypeError', code: 'E1' }])
  assert.ok(Math.abs(Date.parse(seconds.created_at) - Date.now()) < 60_000, seconds.created_at)
  for (const line of ['null', '5', 'text', '{"time":"later"}']) weir.pinoStream(log).write(line + '\n')
  assert.deepStrictEqual(events().slice(4).map((e) => [e.event, e.data]),
    [['null', undefined], ['5', undefined], ['text', undefined], ['', { time: 'later' }]])
})

test('winston keeps all arguments', async () => {
  const { log, events } = collector()
  for (const format of [winston.format.json(), winston.format.combine(winston.format.splat(), winston.format.json())]) {
    const logger = winston.createLogger({ format, transports: [weir.winstonTransport(log)] })
    logger.error('failed', Object.assign(error(), { cause: new Error('inner') }), { id: 7 })
    logger.error(new AggregateError([error()], 'many'))
    logger.info('found %s', 'all', { rows: 3 })
    logger.info({ rows: 3 })
    logger.end()
    await new Promise((resolve) => logger.on('finish', resolve))
  }
  for (const [failed, many, found, rows] of [events().slice(0, 4), events().slice(4)]) {
    assert.match(failed.event, /^failed/) // splat removes the error, but not its text
    assert.deepStrictEqual([failed.errors[0].message.replace('failed ', ''), failed.data.id], ['refused: inner', 7])
    assert.deepStrictEqual(many.errors.map((one) => one.message), ['many', 'refused'])
    assert.deepStrictEqual([found.event.slice(0, 5), found.data.rows, rows.data], ['found', 3, { rows: 3 }])
  }
  assert.deepStrictEqual([events()[2].data.args, events()[6].event], [['all'], 'found all'])
})

test('winston writes events', async () => {
  const { log, events } = collector({ namespace: 'shop', level: 'debug' })
  const logger = winston.createLogger({
    level: 'silly', defaultMeta: { tenant: 't' }, format: winston.format.errors({ stack: true }), transports: [weir.winstonTransport(log)]
  })
  logger.info('order found', { rows: 3 })
  logger.error(error())
  logger.warn('a warning')
  logger.silly('finest')
  logger.end()
  await new Promise((resolve) => logger.on('finish', resolve))
  const [found, failed, warning, finest] = events()
  assert.deepStrictEqual([found.event, found.severity, found.data], ['order found', 3, { rows: 3, tenant: 't' }])
  assert.deepStrictEqual([failed.event, failed.severity], ['refused', 1])
  assert.strictEqual(failed.errors[0].stack_trace[0].function, 'error')
  assert.deepStrictEqual([warning.severity, finest.severity], [2, 4])
})

test('the console writes events until that ends', () => {
  const { log, events } = collector({ level: 'debug' })
  const { log: original } = console
  const end = weir.captureConsole(log)
  console.log('user %d', 7, { admin: true })
  console.error('failed:', error())
  console.warn(error())
  console.debug('detail')
  end()
  assert.strictEqual(console.log, original)
  const [user, failed, warned, detail] = events()
  assert.deepStrictEqual([user.event, user.severity], ['user 7', 3])
  assert.deepStrictEqual([failed.event, failed.severity, failed.errors[0].message], ['failed:', 1, 'refused'])
  assert.deepStrictEqual([warned.event, warned.severity, detail.severity], ['refused', 2, 4])
})

test('the console may print the lines of its own events, and arguments that cannot be printed', () => {
  const printed = []
  const { log: original } = console
  console.log = (line) => printed.push(line)
  const end = weir.captureConsole(weir({ format: 'json', to: { write(line) { console.log(line) } } }))
  console.log('one')
  console.warn({ [inspect.custom]() { throw new Error('no') } })
  console.error(Object.defineProperty(new Error(), 'message', { get() { throw new Error('no') } }))
  end()
  console.log = original
  assert.deepStrictEqual(printed.map((line) => JSON.parse(line).event), ['one', '', 'an error without a text'])
})

test('the console goes on to write events after a logger of the program has thrown', (t) => {
  const { log, events } = collector()
  let throws = true
  const own = {
    with() {},
    stats() {},
    info(...args) {
      if (throws) throw new Error('no')
      log.info(...args)
    }
  }
  const end = weir.captureConsole(own)
  t.after(end)
  assert.throws(() => console.log('one'), /no/)
  throws = false
  console.log('two')
  assert.deepStrictEqual(events().map((e) => e.event), ['two'])
})
