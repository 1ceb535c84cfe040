import weir from './index.js'

export default weir
export type {
  AnyFields, AnyLogger, HTTP, Instant, KeepOptions, Level, Log, Logger, Middleware, MiddlewareOptions, Options, Parts,
  QueueOptions, Request, Response, Stats
} from './index.js'
