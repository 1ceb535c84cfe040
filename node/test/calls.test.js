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
  end()
  const [found, refused] = events()
  assert.deepStrictEqual([found.event, found.data], ['found 3', { token: '[redacted]', rows: 3 }])
  assert.deepStrictEqual([refused.event, refused.data, refused.errors[0].message], ['failed', { id: 7 }, 'refused'])
})
