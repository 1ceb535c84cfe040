'use strict'
// Sends requests to servers of node:http, Express, Fastify and Koa.
const assert = require('node:assert')
const { once } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const net = require('node:net')
const { test } = require('node:test')
const { setTimeout: delay } = require('node:timers/promises')

const weir = require('weir-log')
const { collector } = require('./collector.js')

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const id = '4bf92f3577b34da6a3ce929d0e0e4736'

// Each framework listens with a route /items/:id whose handler logs after an await, and responds with seven bytes.
const frameworks = {
  'node:http'(log) {
    const requests = weir.middleware(log)
    return http.createServer((request, response) => requests(request, response, async () => {
      await delay(1)
      log.info('handling', { id: weir.traceId() })
      response.write('seven')
      response.end('..')
    })).listen(0)
  },
  express(log) {
    const app = require('express')()
    app.use(weir.middleware(log))
    app.get('/items/:id', async (request, response) => {
      await delay(1)
      log.info('handling', { id: weir.traceId() })
      response.send('seven..')
    })
    return app.listen(0)
  },
  async fastify(log, t) {
    const app = require('fastify')()
    app.addHook('onRequest', weir.middleware(log))
    app.get('/items/:id', async () => {
      await delay(1)
      log.info('handling', { id: weir.traceId() })
      return 'seven..'
    })
    await app.listen({ port: 0 })
    t.after(() => app.close())
    return app.server
  },
  koa(log) {
    const app = new (require('koa'))()
    app.use(weir.middleware(log))
    app.use(async (context) => {
      await delay(1)
      log.info('handling', { id: weir.traceId() })
      context.body = 'seven..'
    })
    return app.listen(0)
  }
}

async function listening(server, t) {
  if (!server.listening) await once(server, 'listening')
  t.after(() => { server.close(); server.closeAllConnections() })
  return `http://127.0.0.1:${server.address().port}`
}

async function until(condition) {
  for (let i = 0; !condition(); i++) {
    assert.ok(i < 1000, 'waited for ten seconds')
    await delay(10)
  }
}

for (const [name, listen] of Object.entries(frameworks)) {
  test(`${name}: the events of a request have its trace id`, async (t) => {
    const { log, events, lines } = collector({ namespace: 'items' })
    const url = await listening(await listen(log, t), t)
    const response = await fetch(url + '/items/7?a=1', { headers: { traceparent, 'user-agent': 'test' } })
    assert.strictEqual(await response.text(), 'seven..')
    await until(() => lines.length === 3)
    const [received, handling, completed] = events()
    assert.deepStrictEqual([received.event, handling.event, completed.event],
      ['http request received', 'handling', 'http request completed'])
    for (const event of events()) assert.strictEqual(event.trace_id, id)
    assert.strictEqual(handling.data.id, id)
    assert.strictEqual(received.http.status_code, 0)
    const { host, path, query, method, status_code: status, response_content_length: length, started_at: started, ended_at: ended, duration, client, protocol, user_agent: agent, route } = completed.http
    assert.deepStrictEqual({ host, path, query, method, status, length, protocol, agent },
      { host: '127.0.0.1', path: '/items/7', query: 'a=1', method: 'GET', status: 200, length: 7, protocol: 'HTTP/1.1', agent: 'test' })
    assert.ok(Date.parse(started) <= Date.parse(ended) && duration > 0 && client.endsWith('127.0.0.1'), lines[2])
    if (name === 'express' || name === 'fastify') assert.strictEqual(route, '/items/:id')
  })

  test(`${name}: requests at the same time keep their ids`, async (t) => {
    const { log, events, lines } = collector()
    const url = await listening(await listen(log, t), t)
    await Promise.all(Array.from({ length: 20 }, (_, i) => fetch(`${url}/items/${i}`, { headers: { 'x-request-id': `id-${i}` } })))
    await until(() => lines.length === 60)
    const ids = (event) => events().filter((e) => e.event === event).map((e) => e.trace_id).sort()
    assert.deepStrictEqual(ids('handling'), ids('http request received'))
    assert.deepStrictEqual(ids('http request completed'), ids('http request received'))
    for (const e of events()) if (e.data) assert.strictEqual(e.data.id, e.trace_id)
  })
}

test('a client that disconnects is logged as a warning with 499', async (t) => {
  const { log, events, lines } = collector()
  const requests = weir.middleware(log, { events: 'completed' })
  const url = await listening(http.createServer((request, response) => requests(request, response, () => client.destroy())).listen(0), t)
  const client = http.get(url).on('error', () => {})
  await until(() => lines.length === 1)
  const [{ severity, http: { status_code: status }, data }] = events()
  assert.deepStrictEqual({ severity, status, data }, { severity: 2, status: 499, data: { failure: 'client_gone', cut: false } })
})

test('express: a response that the server has cut is aborted, and one of a client that is gone is not', async (t) => {
  const { log, events, lines } = collector()
  const app = require('express')()
  app.use(weir.middleware(log, { events: 'completed' }))
  app.get('/throws', (request, response) => { response.write('part'); throw boom() })
  app.get('/destroys', (request, response) => { response.write('part'); setImmediate(() => response.destroy()) })
  app.get('/hangs', (request, response) => { response.write('part') })
  app.use((error, request, response, next) => next(error)) // Express closes the connection
  const url = await listening(app.listen(0), t)
  for (const path of ['/throws', '/destroys', '/hangs', '/resets']) {
    const client = net.connect(new URL(url).port, '127.0.0.1').on('error', () => {})
    client.write(`GET ${path.replace('resets', 'hangs')} HTTP/1.1\r\nHost: a\r\n\r\n`)
    await once(client, 'data')
    if (path === '/hangs') client.destroy()
    if (path === '/resets') client.resetAndDestroy()
    await until(() => lines.length === 1)
    const [{ http: { status_code: status }, data, errors }] = events()
    const isHere = path === '/throws' || path === '/destroys'
    assert.deepStrictEqual([status, data, errors?.[0].message],
      [200, { failure: isHere ? 'aborted' : 'client_gone', cut: true }, path === '/throws' ? 'boom' : undefined], path)
    lines.length = 0
  }
})

// Servers whose handlers and hooks fail, under /own with an error handler of the program. An error with the status 404 is
// no failure of the server.
const boom = () => Object.assign(new Error('boom'), { code: 'E1' })
const missing = () => Object.assign(new Error('missing'), { status: 404, statusCode: 404, expose: true })
const failing = {
  'node:http'(log) {
    const requests = weir.middleware(log)
    return http.createServer((request, response) => requests(request, response, () => {
      const error = request.url === '/missing' ? missing() : boom()
      if (request.url === '/rejects') return Promise.reject(error).catch(() => response.destroy(error))
      response.err = error // by convention of pino-http
      response.writeHead(error.status ?? 500).end('sorry')
    })).listen(0)
  },
  express(log) {
    const express = require('express')
    const app = express()
    app.set('env', 'test') // prints no errors
    app.use(weir.middleware(log))
    const router = express.Router()
    router.get('/throws', () => { throw boom() })
    router.get('/rejects', async () => { throw boom() })
    router.get('/missing', (request, response, next) => next(missing()))
    app.use('/own', router, (error, request, response, next) => response.status(error.status ?? 500).send('sorry'))
    app.use(router)
    return app.listen(0)
  },
  async fastify(log, t) {
    const app = require('fastify')()
    app.addHook('onRequest', weir.middleware(log))
    const routes = (app, options, done) => {
      app.get('/throws', { preHandler: () => { throw boom() } }, () => '')
      app.get('/rejects', async () => { throw boom() })
      app.get('/missing', (request, reply) => { reply.send(missing()) })
      done()
    }
    app.register(routes)
    app.register((app, options, done) => {
      app.setErrorHandler((error, request, reply) => reply.code(error.statusCode ?? 500).send('sorry'))
      routes(app, options, done)
    }, { prefix: '/own' })
    await app.listen({ port: 0 })
    t.after(() => app.close())
    return app.server
  },
  koa(log) {
    const app = new (require('koa'))()
    app.silent = true
    app.use(weir.middleware(log))
    app.use(async (context, next) => {
      try {
        await next()
      } catch (error) {
        if (!context.path.startsWith('/own')) throw error
        context.status = error.status ?? 500
        context.app.emit('error', error, context) // as the documentation of Koa does it
      }
    })
    app.use((context) => {
      if (context.path.endsWith('/missing')) throw missing()
      if (context.path.endsWith('/throws')) throw boom()
      return Promise.reject(boom())
    })
    return app.listen(0)
  }
}

for (const [name, listen] of Object.entries(failing)) {
  test(`${name}: the completed event of a failed request has its error`, async (t) => {
    const { log, events } = collector()
    const url = await listening(await listen(log, t), t)
    const completed = () => events().filter((e) => e.event === 'http request completed')
    const paths = ['/throws', '/rejects', '/missing']
    for (const path of name === 'node:http' ? paths : [...paths, '/own/throws', '/own/rejects', '/own/missing']) {
      const before = completed().length
      const response = await fetch(url + path).catch(() => null)
      await response?.text()
      await until(() => completed().length > before)
      const { severity, http: { status_code: status }, errors, data } = completed().at(-1)
      const failures = errors?.map((error) => [error.message, error.data.code, error.stack_trace[0].function])
      if (path.endsWith('/missing')) {
        assert.deepStrictEqual([status, severity, failures?.[0][0]], [404, 3, name === 'node:http' ? 'missing' : undefined], path)
      } else if (response === null) {
        assert.deepStrictEqual([status, data, failures], [0, { failure: 'aborted', cut: false }, [['boom', 'E1', 'boom']]], path)
      } else {
        assert.deepStrictEqual([status, severity, failures], [500, 2, [['boom', 'E1', 'boom']]], path)
      }
    }
  })
}

const throwing = {
  express(log) {
    const app = require('express')()
    app.set('env', 'test')
    app.use(weir.middleware(log))
    app.get('/', () => { throw 'no error' })
    return app.listen(0)
  },
  async fastify(log, t) {
    const app = require('fastify')()
    app.addHook('onRequest', weir.middleware(log))
    app.get('/', async () => { throw 'no error' })
    app.get('/text', async () => 'a text that is no error')
    await app.listen({ port: 0 })
    t.after(() => app.close())
    return app.server
  }
}

for (const [name, listen] of Object.entries(throwing)) {
  test(`${name}: a text that a handler throws is an error`, async (t) => {
    const { log, events } = collector()
    const url = await listening(await listen(log, t), t)
    const completed = () => events().filter((e) => e.event === 'http request completed')
    for (const [path, want] of name === 'fastify' ? [['/', 'no error'], ['/text', undefined]] : [['/', 'no error']]) {
      const before = completed().length
      await (await fetch(url + path)).text()
      await until(() => completed().length > before)
      assert.strictEqual(completed().at(-1).errors?.[0].message, want, path)
    }
  })
}

test('errors of handlers have the effect that they have without the middleware', async () => {
  const { log, events } = collector()
  const requests = weir.middleware(log)
  const response = Object.assign(new (require('node:events'))(), { write() {}, end() {}, statusCode: 200, headersSent: true })
  const request = { headers: {}, url: '/' }
  assert.throws(() => requests(request, response, () => { throw boom() }), /boom/)
  await assert.rejects(requests(request, response, async () => { throw boom() }), /boom/)
  response.emit('close')
  assert.strictEqual(events().at(-1).errors[0].message, 'boom')
})

test('requests of a pipeline keep their ids, and an absolute target replaces Host', async (t) => {
  const { log, events, lines } = collector()
  const url = new URL(await listening(frameworks['node:http'](log), t))
  const client = net.connect(url.port, url.hostname).on('error', () => {})
  t.after(() => client.destroy())
  client.write('GET /1 HTTP/1.1\r\nHost: a\r\nX-Request-Id: one\r\n\r\n' +
    'GET http://b:81/2?q=3 HTTP/1.1\r\nHost: a\r\nX-Request-Id: two\r\n\r\n')
  await until(() => lines.length === 6)
  for (const event of events()) if (event.data) assert.strictEqual(event.data.id, event.trace_id)
  const completed = events().filter((e) => e.event === 'http request completed')
  assert.deepStrictEqual(completed.map((e) => [e.trace_id, e.http.host, e.http.port, e.http.path, e.http.query]),
    [['one', 'a', undefined, '/1', undefined], ['two', 'b', 81, '/2', 'q=3']])
})

test('http2: the events of a request have its trace id', async (t) => {
  const { log, events, lines } = collector()
  const requests = weir.middleware(log)
  const server = http2.createServer((request, response) => requests(request, response, async () => {
    await delay(1)
    log.http(request, response).info('handling', { id: weir.traceId() })
    response.write('seven')
    response.end('..')
  })).listen(0)
  await once(server, 'listening')
  const client = http2.connect(`http://127.0.0.1:${server.address().port}`)
  t.after(() => { client.close(); server.close() })
  client.request({ ':path': '/a?b=1', 'x-request-id': 'two' }).resume()
  await until(() => lines.length === 3)
  for (const event of events()) assert.deepStrictEqual([event.trace_id, event.http.path], ['two', '/a'])
  const { status_code: status, response_content_length: length, protocol } = events()[2].http
  assert.deepStrictEqual({ status, length, protocol }, { status: 200, length: 7, protocol: 'HTTP/2.0' })
})

// How a response of http2 ends, and the completed event. Each client gets the part that the handler has written first.
const { constants } = http2
const clientGone = { failure: 'client_gone', cut: true }
const http2Ends = [
  { name: 'the client cancels', client: (stream) => stream.close(constants.NGHTTP2_CANCEL), data: clientGone },
  { name: 'the client reports an error', client: (stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR), data: clientGone },
  { name: 'the client closes without a code', client: (stream) => stream.close(), data: clientGone },
  { name: 'the client closes the session', client: (stream) => stream.session.destroy(), data: clientGone },
  { name: 'the client resets the connection', client: (stream, socket) => socket.resetAndDestroy(), data: clientGone },
  { name: 'the client cancels, and the handler destroys the response then',
    handler: (request, response) => request.on('aborted', () => response.destroy(boom())),
    client: (stream) => stream.close(constants.NGHTTP2_CANCEL), data: clientGone },
  { name: 'the client cancels while a large response is sent', handler: (request, response) => response.end(Buffer.alloc(1 << 20)),
    client: (stream) => stream.close(constants.NGHTTP2_CANCEL), data: clientGone },
  { name: 'the handler destroys the response', handler: (request, response) => response.destroy(boom()),
    data: { failure: 'aborted', cut: true }, error: 'boom' },
  { name: 'the handler destroys the response without an error', handler: (request, response) => response.destroy(),
    data: { failure: 'aborted', cut: true } },
  { name: 'the handler ends the response', handler: (request, response) => response.end('all') },
  { name: 'the handler ends a large response', handler: (request, response) => response.end(Buffer.alloc(1 << 20)), reads: true }
]

for (const { name, handler, client, data, error, reads } of http2Ends) {
  test(`http2: the completed event of a response has its end: ${name}`, async (t) => {
    const { log, events, lines } = collector()
    const requests = weir.middleware(log, { keep: { slowerThan: 3_600_000 } })
    const server = http2.createServer((request, response) => requests(request, response, () => {
      response.write('part')
      handler?.(request, response)
    })).listen(0)
    await once(server, 'listening')
    const socket = net.connect(server.address().port, '127.0.0.1')
    const session = http2.connect('http://127.0.0.1', { createConnection: () => socket }).on('error', () => {})
    t.after(() => { session.destroy(); server.close() })
    const stream = session.request({ ':path': '/' }).on('error', () => {})
    if (reads) stream.resume()
    if (client !== undefined) {
      await once(stream, 'response')
      client(stream, socket)
    }
    await until(() => events().at(-1)?.event === 'http request completed')
    const completed = events().at(-1)
    assert.deepStrictEqual([completed.http.status_code, completed.severity, completed.data, completed.errors?.[0].message, lines.length],
      [200, data === undefined ? 3 : 2, data, error, data === undefined ? 1 : 2])
  })
}

test('http2: a client that cancels before the response is logged with 499', async (t) => {
  const { log, events, lines } = collector()
  const requests = weir.middleware(log, { events: 'completed' })
  const server = http2.createServer((request, response) => requests(request, response, () => stream.close(constants.NGHTTP2_CANCEL))).listen(0)
  await once(server, 'listening')
  const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
  t.after(() => { session.destroy(); server.close() })
  const stream = session.request({ ':path': '/' }).on('error', () => {})
  await until(() => lines.length === 1)
  const [{ severity, http: { status_code: status }, data }] = events()
  assert.deepStrictEqual({ severity, status, data }, { severity: 2, status: 499, data: { failure: 'client_gone', cut: false } })
})

for (const [method, status] of [['HEAD', 200], ['GET', 204], ['GET', 304]]) {
  test(`http2: a response without a body is complete: ${method} ${status}`, async (t) => {
    const { log, events, lines } = collector()
    const requests = weir.middleware(log, { events: 'completed' })
    const server = http2.createServer((request, response) => requests(request, response, () => response.writeHead(status).end())).listen(0)
    await once(server, 'listening')
    const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
    t.after(() => { session.destroy(); server.close() })
    session.request({ ':method': method }).resume()
    await until(() => lines.length === 1)
    assert.deepStrictEqual([events()[0].http.status_code, events()[0].severity, events()[0].data], [status, 3, undefined])
  })
}

// Functions that send the head of a POST, and return how its body is sent.
const senders = {
  http(port) {
    const request = http.request({ port, method: 'POST' }).on('error', () => {})
    request.flushHeaders()
    return { write: (text) => request.write(text), end: (text) => request.end(text), close: () => request.destroy() }
  },
  http2(port) {
    const session = http2.connect(`http://127.0.0.1:${port}`)
    const stream = session.request({ ':method': 'POST' }).resume()
    return { write: (text) => stream.write(text), end: (text) => stream.end(text), close: () => session.close() }
  }
}

for (const [name, server] of [['http', http], ['http2', http2]]) {
  test(`${name}: events in listeners of a request and its response have its trace id`, async (t) => {
    const { log, events, lines } = collector()
    const requests = weir.middleware(log)
    const outer = weir.middleware(log, { events: 'completed' })
    const handle = (request, response) => {
      request.on('data', (chunk) => log.info('data', { id: weir.traceId(), chunk: String(chunk) }))
      request.on('end', () => {
        log.info('end', { id: weir.traceId() })
        response.end()
      })
      response.on('close', () => log.info('close', { id: weir.traceId() }))
    }
    const door = server.createServer((request, response) =>
      outer(request, response, () => requests(request, response, () => handle(request, response)))).listen(0)
    await once(door, 'listening')
    const client = senders[name](door.address().port)
    t.after(() => { client.close(); door.close() })
    await until(() => lines.length === 1)
    client.write('one')
    await until(() => lines.length === 2)
    client.end('two')
    await until(() => lines.length === 7)
    const inHandler = events().filter((e) => e.data?.id !== undefined)
    assert.deepStrictEqual(inHandler.map((e) => [e.event, e.data.chunk]),
      [['data', 'one'], ['data', 'two'], ['end', undefined], ['close', undefined]])
    const { trace_id: id } = events()[0]
    for (const event of inHandler) assert.deepStrictEqual([event.trace_id, event.data.id], [id, id])
  })
}

test('express: an error handler and the completed event have the id and the route of the request', async (t) => {
  const { log, events, lines } = collector()
  const app = require('express')()
  app.use(weir.middleware(log))
  app.get('/items/:id', async () => { throw new Error('boom') })
  app.use((error, request, response, next) => {
    log.error('failed', error)
    response.status(500).send('sorry')
  })
  const url = await listening(app.listen(0), t)
  await (await fetch(url + '/items/7', { headers: { 'x-request-id': 'r' } })).text()
  await until(() => lines.length === 3)
  const [, failed, completed] = events()
  assert.deepStrictEqual([failed.trace_id, failed.errors[0].message], ['r', 'boom'])
  const { severity, trace_id: traceID, http: { status_code: status, route } } = completed
  assert.deepStrictEqual({ severity, traceID, status, route }, { severity: 2, traceID: 'r', status: 500, route: '/items/:id' })
})

test('events after the client has gone keep the id of its request', async (t) => {
  const { log, events, lines } = collector()
  const requests = weir.middleware(log)
  const url = await listening(http.createServer((request, response) => requests(request, response, async () => {
    response.write('part')
    client.destroy()
    await once(response, 'close')
    log.info('cleaned up')
  })).listen(0), t)
  const client = http.get(url, { headers: { 'x-request-id': 'gone' } }).on('error', () => {})
  await until(() => lines.length === 3)
  assert.deepStrictEqual(events().map((e) => [e.event, e.trace_id]),
    [['http request received', 'gone'], ['http request completed', 'gone'], ['cleaned up', 'gone']])
  assert.deepStrictEqual(events()[1].data, { failure: 'client_gone', cut: true })
})

const uuid = 'c9bf9e57-1685-4c89-bafb-ff5af830be8a'
const hashOfUUID = '5a70c1596d743770b7a19c39de57ef57' // FNV-1a, 128 bits

const ids = [
  ['a traceparent before X-Request-Id', { traceparent, 'x-request-id': 'r' }, id],
  ['a traceparent that the front door has made of letters',
    { traceparent: '00-6162636465666768696a6b6c6d6e6f70-00f067aa0ba902b7-01', 'x-request-id': 'abcdefghijklmnop' }, 'abcdefghijklmnop'],
  ['a traceparent that it has made of a UUID',
    { traceparent: `00-${hashOfUUID}-00f067aa0ba902b7-01`, 'x-request-id': uuid }, uuid],
  ['zeros', { traceparent: '00-00000000000000000000000000000000-00f067aa0ba902b7-01', 'x-request-id': 'r' }, 'r'],
  ['version ff', { traceparent: 'ff' + traceparent.slice(2), 'x-request-id': 'r' }, 'r'],
  ['upper case', { traceparent: traceparent.toUpperCase(), 'x-request-id': 'r' }, 'r'],
  ['quotes', { 'x-request-id': '"r"' }, /^[a-zA-Z]{16}$/],
  ['a long one', { 'x-request-id': 'r'.repeat(129) }, /^[a-zA-Z]{16}$/],
  ['nothing', {}, /^[a-zA-Z]{16}$/]
]
test('the trace id is chosen as in the front door', async (t) => {
  const { log, events, lines } = collector()
  const url = await listening(frameworks['node:http'](log), t)
  for (const [name, headers, want] of ids) {
    lines.length = 0
    await (await fetch(url, { headers })).text()
    await until(() => lines.length === 3)
    const got = events()[0].trace_id
    typeof want === 'string' ? assert.strictEqual(got, want, name) : assert.match(got, want, name)
  }
})

test('log.http has the fields of a request and its response', async (t) => {
  const { log, events } = collector({ redact: ['token'] })
  const server = http.createServer((request, response) => {
    response.setHeader('content-length', 2)
    log.http(request).info('before')
    response.end('ok', () => log.http(request, response).info('after'))
  }).listen(0)
  const url = await listening(server, t)
  await (await fetch(url + '/a?token=secret', { method: 'POST', body: 'abc', headers: { referer: 'https://x/?token=secret' } })).text()
  const [before, after] = events()
  assert.deepStrictEqual([before.http.status_code, after.http.status_code, after.http.response_content_length], [0, 200, 2])
  assert.strictEqual(before.http.request_content_length, 3)
  assert.strictEqual(before.http.query, 'token=[redacted]')
  assert.strictEqual(before.http.referer, 'https://x/?token=[redacted]')
})

test('log.http of something else does not throw', () => {
  const { log, events } = collector()
  log.http(null).info('a')
  log.http({}, {}).info('b')
  assert.strictEqual(events().length, 2)
  assert.match(events()[0].data.error, /^!ERROR: /)
})
