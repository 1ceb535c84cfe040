'use strict'
const assert = require('node:assert')
const { test } = require('node:test')

const weir = require('weir-log')
const { collector } = require('./collector.js')

const failed = () => Object.assign(new Error('refused'), { code: 'E1' })

test('calls in the order of pino and bunyan keep their data', () => {
  const { log, events } = collector()
  log.error({ err: failed(), id: 7 }, 'could not save')
  log.error(failed(), 'could not save')
  log.info({ rows: 3 }, 'found')
  log.info({ rows: 3 })
  log.info('found', { rows: 3 }, { page: 2 }, 'more', 5)
  log.error('could not save', failed(), { id: 7 }, 'more')
  const got = events().map((e) => [e.event, e.data, e.errors?.map((error) => error.message)])
  assert.deepStrictEqual(got, [
    ['could not save', { id: 7 }, ['refused']],
    ['could not save', undefined, ['refused']],
    ['found', { rows: 3 }, undefined],
    ['', { rows: 3 }, undefined],
    ['found', { rows: 3, page: 2, args: ['more', 5] }, undefined],
    ['could not save', { id: 7, args: ['more'] }, ['refused']]
  ])
})

test('an object before fields is fields if it is plain, and an error otherwise', () => {
  const { log, events } = collector()
  class Problem { status = 404 }
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  log.info('found', { rows: 3 }, { page: 2 })
  log.info('found', Object.assign(Object.create(null), { rows: 3 }), { page: 2 })
  log.error('failed', { err: failed(), rows: 3 }, { page: 2 })
  log.error('failed', failed(), { page: 2 })
  log.error('failed', new Problem(), { page: 2 })
  log.info('found', null, { page: 2 })
  log.info('found', revoked.proxy, { page: 2 })
  const got = events().map((e) => [e.data, e.errors?.map((error) => [error.message, error.data])])
  assert.deepStrictEqual(got.slice(0, -1), [
    [{ rows: 3, page: 2 }, undefined],
    [{ rows: 3, page: 2 }, undefined],
    [{ rows: 3, page: 2 }, [['refused', { code: 'E1' }]]],
    [{ page: 2 }, [['refused', { code: 'E1' }]]],
    [{ page: 2 }, [['', { status: 404 }]]],
    [{ page: 2 }, undefined]
  ])
  assert.deepStrictEqual(got.at(-1)[0], { page: 2 })
})

test('an error among the fields is an error of the event', () => {
  const { log, events } = collector({ redact: ['secret'] })
  log.error('failed', { err: failed(), id: 7 })
  log.error('failed', { error: failed(), id: 7 })
  log.error({ error: failed(), err: null }, 'failed')
  log.error('failed', { secret: failed(), deep: { err: failed() } })
  log.error({ get err() { throw new Error('no') }, id: 7 })
  const got = events().map((e) => [e.data, e.errors?.map((error) => [error.message, error.data.code])])
  assert.deepStrictEqual(got, [
    [{ id: 7 }, [['refused', 'E1']]],
    [{ error: 'refused', id: 7 }, [['refused', 'E1']]],
    [{ error: 'refused', err: null }, [['refused', 'E1']]],
    [{ secret: '[redacted]', deep: { err: 'refused' } }, undefined],
    [{ err: '!ERROR: no', id: 7 }, undefined]
  ])
})

test('arguments for directives, and before the event, are no errors and keep the event', () => {
  const { log, events } = collector()
  log.info('hello %s', 'bob')
  log.info('took %d ms', 5, { rows: 3 })
  log.error('no %s', failed())
  log.info(null, 'found', { rows: 3 })
  log.info(undefined, 'found')
  log.info('found', undefined, { rows: 3 })
  log.info(404, 'not found')
  log.child('text').info('found')
  const got = events().map((e) => [e.event, e.data, e.errors?.length])
  assert.deepStrictEqual(got, [
    ['hello %s', { args: ['bob'] }, undefined],
    ['took %d ms', { rows: 3, args: [5] }, undefined],
    ['no %s', undefined, 1],
    ['found', { rows: 3 }, undefined],
    ['found', undefined, undefined],
    ['found', { rows: 3 }, undefined],
    ['not found', { args: [404] }, undefined],
    ['found', { args: ['text'] }, undefined]
  ])
})

test('with keeps keys that are no parts of an event as fields', () => {
  const { log, events } = collector()
  log.with({ trace_id: 't', tenant: 'ons' }).info('found', { rows: 3 })
  assert.deepStrictEqual([events()[0].trace_id, events()[0].data], ['t', { tenant: 'ons', rows: 3 }])
})

test('no object becomes [object Object]', () => {
  const { log, lines, events } = collector()
  const plain = Object.assign(Object.create(null), { code: 5 })
  log.error('a', new Error('outer', { cause: plain }))
  log.error('b', Object.assign(new Error('outer'), { message: { code: 5 }, errors: { field: { kind: 'required' } } }))
  log.error('c', { get value() { throw { code: 5 } } }) // eslint-disable-line no-throw-literal
  log.info('d', { map: new Map([[{ id: 7 }, 1], [new Date(0), 2], [Symbol('s'), 3]]) })
  for (const line of lines) assert.doesNotMatch(line, /\[object /)
  const [cause, message, , map] = events()
  assert.deepStrictEqual([cause.errors[0].message, cause.errors[0].data], ['outer', { code: 5 }])
  assert.deepStrictEqual(message.errors[0].data, { message: { code: 5 }, errors: { field: { kind: 'required' } } })
  assert.deepStrictEqual(map.data.map, { '{"id":7}': 1, '1970-01-01T00:00:00Z': 2, 'Symbol(s)': 3 })
})

test('causes and errors that are plain objects are data', () => {
  const { log, events } = collector()
  log.error('a', new Error('outer', { cause: { code: 5, name: 'x' } }))
  log.error('b', new AggregateError([{ code: 5 }, new Error('one')], 'many'))
  const [cause, many] = events()
  assert.deepStrictEqual([cause.errors[0].message, cause.errors[0].data], ['outer', { name: 'x', code: 5 }])
  assert.deepStrictEqual(many.errors.map((error) => error.message), ['many', '', 'one'])
  assert.deepStrictEqual(many.errors[1].data, { code: 5 })
})

test('toJSON and values without members hold at the top level', () => {
  const { log, events } = collector()
  log.info('a', { toJSON: () => ({ shown: 1 }), hidden: 2 })
  log.info('b', new Set([1, 2]))
  log.info('c', { toJSON: () => 'text' })
  assert.deepStrictEqual(events().map((e) => e.data), [{ shown: 1 }, { value: [1, 2] }, { value: 'text' }])
})

test('detached methods log', async () => {
  const { log, events } = collector()
  const { info } = log.child({ tenant: 't' })
  info('found')
  await Promise.reject(failed()).catch(log.error)
  log.debug('not written')
  const [found, refused] = events()
  assert.deepStrictEqual([found.event, found.data], ['found', { tenant: 't' }])
  assert.deepStrictEqual([refused.event, refused.errors[0].message], ['refused', 'refused'])
})

test('the console has the first argument as event and the others as data', () => {
  const { log, events } = collector({ redact: ['token'] })
  const end = weir.captureConsole(log)
  console.log('found %d', 3, { token: 'canary', rows: 3 })
  console.error('failed', failed(), { id: 7 })
  console.log('listening on', 8080, 'of', null, { rows: 3 })
  console.log()
  end()
  const [found, refused, listening, empty] = events()
  assert.deepStrictEqual([listening.event, listening.data, listening.errors],
    ['listening on', { rows: 3, args: [8080, 'of', null] }, undefined])
  assert.deepStrictEqual([empty.event, empty.data], ['', undefined])
  assert.deepStrictEqual([found.event, found.data], ['found 3', { token: '[redacted]', rows: 3 }])
  assert.deepStrictEqual([refused.event, refused.data, refused.errors[0].message], ['failed', { id: 7 }, 'refused'])
})
