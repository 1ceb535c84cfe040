'use strict'
const assert = require('node:assert')
const { test } = require('node:test')

const weir = require('weir-log')
const { collector } = require('./collector.js')

test('paths and patterns of pino, bunyan and winston users are refused with the right form', () => {
  for (const [entry, hint] of Object.entries({
    '*.password': 'password', 'req.headers.authorization': 'authorization', 'user[0].token': 'token', 'path.to.key': 'key',
    'stuff.thats[*].secret': 'secret', 'req.headers["set-cookie"]': 'set-cookie', 'test.*.secret': 'secret', 'a[*]': 'a'
  })) {
    assert.throws(() => weir({ redact: [entry] }), { name: 'TypeError', message: new RegExp(`write '${hint}'`) }, entry)
  }
  for (const entry of ['*', '[*]', '']) assert.throws(() => weir({ redact: [entry] }), /such as password/)
})

test('keys with dots and brackets are redacted by their last part', () => {
  const { log, events } = collector({ redact: ['Token'] })
  log.with({ http: { query: 'user[token]=x&a%5Btoken%5D[]=x&[]=y' } }).info('a', { 'user.token': 'x', 'token.kind': 'y' })
  const [{ http, data }] = events()
  assert.strictEqual(http.query, 'user[token]=[redacted]&a%5Btoken%5D[]=[redacted]&[]=y')
  assert.deepStrictEqual(data, { 'user.token': '[redacted]', 'token.kind': 'y' })
})

test('URL values are redacted', () => {
  const { log, events } = collector({ redact: ['token'] })
  const to = new URL('https://ada:x@h.example/a?page=2&token=canary')
  log.info('a', { to, deep: [to], query: to.searchParams })
  const shown = 'https://[redacted]@h.example/a?page=2&token=[redacted]'
  assert.deepStrictEqual(events()[0].data, { to: shown, deep: [shown], query: 'page=2&token=[redacted]' })
})
