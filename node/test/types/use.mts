import weir from 'weir-log'
import type { Logger, Options } from 'weir-log'
import express from 'express'
import { fastify } from 'fastify'
import { createServer } from 'node:http'
import { createServer as createServer2 } from 'node:http2'
import winston from 'winston'
import { pino } from 'pino'

const log = weir({ namespace: 'types', level: 'debug', queue: { whenFull: 'block' }, to: { write() {} } })
log.info('event')
log.info('event', { any: 1, nested: { a: [new Date()] } })
interface User { id: string }
declare const user: User
log.info('event', user)

try {
  log.error('event', new TypeError('e'), { id: 1 })
} catch (error) {
  log.error('event', error)
  log.error('event', error, { id: 1 })
}
log.child({ a: 1 }).with({ trace_id: 't', http: { duration: 5n }, errors: [new Error('e')] }).warn('event', 'text')

// @ts-expect-error: no level
log.trace('event')
// @ts-expect-error: no option
weir({ nmespace: 'x' })
// @ts-expect-error: no policy
weir({ queue: { whenFull: 'wait' } })
// @ts-expect-error: no event
log.info()
// @ts-expect-error: identity_type
log.with({ auth: { identity: 'ada', identity_type: 'admin' } })

interface Fields {
  dataset: string
  rows: number
}
const strict = weir<Fields>({ to: { write() {} } })
strict.info('event', { dataset: 'cpih01' })
strict.child({ rows: 1 }).error('event', new Error('e'), { rows: 2 })
// @ts-expect-error: no such field
strict.info('event', { datset: 'cpih01' })
// @ts-expect-error: wrong type
strict.info('event', { rows: 'three' })
// @ts-expect-error: no such field of an error
strict.error('event', new Error('e'), { row: 1 })
// @ts-expect-error: no such field of a child
strict.child({ row: 1 })

const levels = weir<Fields, 'info' | 'error'>({ to: { write() {} } })
levels.info('event', { rows: 1 })
levels.child({ rows: 1 }).error('event')
// @ts-expect-error: not a level of the schema
levels.debug('event')

const stats: weir.Stats = log.stats()
const lost: number | undefined = stats.losses.info?.full
const logger: weir.Logger = log
void [lost, logger]

// @ts-expect-error: no option of a middleware
weir.middleware(log, { event: 'completed' })
// @ts-expect-error: no option of a queue
weir({ queue: { whenfull: 'drop' } })
// @ts-expect-error: no option of pinoStream
weir.pinoStream(log, { messagekey: 'msg' })
// @ts-expect-error: no part
log.with({ tenant: 'ons' })
const requests = weir.middleware(log, { events: 'completed' })
createServer((request, response) => requests(request, response, () => response.end(weir.traceId())))
createServer2((request, response) => requests(request, response, () => log.http(request, response).info('event')))
const app = express()
app.use(weir.middleware(strict))
app.get('/', (request, response) => { log.http(request, response).info('event') })
fastify().addHook('onRequest', weir.middleware(log))
fastify({ http2: true }).addHook('onRequest', weir.middleware(log))
  .get('/', (request, reply) => { log.http(request, reply).info('event') })
pino({}, weir.pinoStream(log))
winston.createLogger({ transports: [weir.winstonTransport(log)] })
weir.captureConsole(log)()

weir.middleware(log, { keep: {} })
weir.middleware(log, { keep: { slowerThan: 500, share: 0.01, trust: (request) => request.socket.remoteAddress === '::1', bytes: 4096 } })
// @ts-expect-error: no option of keep
weir.middleware(log, { keep: { slower: 500 } })
const counted: number = stats.emitted + stats.held + stats.discarded
void counted

function start(options: Options): Logger<Fields> { return weir<Fields>(options) }
// @ts-expect-error: no such field of an imported Logger
start({ namespace: 'types' }).info('event', { row: 1 })
