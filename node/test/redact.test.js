'use strict'
const assert = require('node:assert')
const { once } = require('node:events')
const http = require('node:http')
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

test('URLs in the place of an error, or as its cause, are redacted', () => {
  const { log, events } = collector({ redact: ['token'] })
  const to = new URL('https://ada:x@h.example/a?token=canary')
  log.error('not fetched', to, { id: 1 })
  log.with({ errors: [new URLSearchParams('token=canary')] }).error('not fetched')
  log.error('not fetched', new Error('no', { cause: to }))
  assert.deepStrictEqual(events().map((event) => event.errors[0].message),
    ['https://[redacted]@h.example/a?token=[redacted]', 'token=[redacted]',
      'no: https://[redacted]@h.example/a?token=[redacted]'])
})

test('requests and responses are http objects, without the secrets of their headers', async (t) => {
  const { log, lines, events } = collector({ redact: ['authorization', 'cookie', 'set-cookie', 'token', 'password'] })
  const server = http.createServer((req, res) => {
    log.info({ req, res }, 'got')
    res.setHeader('set-cookie', 'a=canary')
    res.end()
    log.info('sent', { res, headers: req.headers })
  }).listen(0)
  await once(server, 'listening')
  t.after(() => server.close())
  const headers = { authorization: 'Bearer canary', cookie: 'a=canary' }
  const request = http.get({ port: server.address().port, path: '/a?token=canary', headers, agent: false })
  const [response] = await once(request, 'response')
  response.resume()
  log.error('failed', Object.assign(new Error('like that of axios'), { request, response })) // it has these fields
  const form = new FormData()
  form.append('password', 'canary')
  log.info('fetched', { headers: new Headers({ authorization: 'canary', accept: 'x' }), form })
  for (const line of lines) assert.doesNotMatch(line, /canary/)
  const [got, sent, failed, fetched] = events()
  assert.deepStrictEqual([got.data.req.method, got.data.req.path, got.data.req.query, got.data.res.status_code], ['GET', '/a', 'token=[redacted]', 0])
  assert.deepStrictEqual([sent.data.res.status_code, sent.data.headers.authorization], [200, '[redacted]'])
  const { request: { method, host, path }, response: { status_code: status } } = failed.errors[0].data
  assert.deepStrictEqual([method, host, path, status], ['GET', 'localhost', '/a', 200])
  assert.deepStrictEqual(fetched.data, { headers: { accept: 'x', authorization: '[redacted]' }, form: { password: '[redacted]' } })
})
