import { IncomingMessage, ServerResponse } from 'node:http'
import { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { Writable } from 'node:stream'

type NodeRequest = IncomingMessage | Http2ServerRequest
type NodeResponse = ServerResponse | Http2ServerResponse

/**
 * Returns a logger. Use one for the whole program, and {@link weir.Logger.child child} for parts of it.
 *
 * @example
 * const log = weir({ namespace: 'search' })
 * log.info('dataset found', { id, rows })
 * log.error('could not save', err, { id })
 *
 * `Fields` lists the fields of the program with their types; others are compile errors. `Levels` lists its levels.
 *
 * @throws TypeError if an option has another name or type than the ones below; the error of the operating system if a
 * file cannot be opened.
 */
declare function weir<Fields extends object = weir.AnyFields, Levels extends weir.Level = weir.Level>(
  options?: weir.Options
): weir.Logger<Fields, Levels>

declare namespace weir {
  type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug'
  type AnyFields = Record<string, any>

  interface Options {
    /** The name of the service, in every event. */
    namespace?: string
    /** The lowest level that is written; `'info'` if missing. The methods of the levels below it do nothing. */
    level?: Level
    /** `'auto'`, the default, is `'human'` on a terminal and `'json'` elsewhere. `'json-v1'` is for readers of log.go 1. */
    format?: 'json' | 'json-v1' | 'ltsv' | 'human' | 'auto'
    /**
     * `'stdout'`, the default; `'stderr'`; a path, which is appended to, and opened again on SIGHUP or when it was
     * renamed; a descriptor; or an object whose method `write` gets each line when it is logged, for tests.
     */
    to?: string | URL | number | { write(line: string): unknown }
    /** The greatest length of a line; 16 KiB if missing, and at least 512. The longest strings of a longer one are cut. */
    maxEventBytes?: number
    /** Keys with secret values, in any case: in fields at any depth, in URL objects, in queries and in referers. A path or a pattern is refused. */
    redact?: string[]
    queue?: QueueOptions
  }

  interface QueueOptions {
    /** The bytes of lines that may wait for a slow destination; 8 MiB if missing. */
    bytes?: number
    /**
     * What happens to a line when the queue is full. `'shed'`, the default, drops debug events when half of it is taken,
     * info from three quarters and warn from seven eighths. `'drop'` drops any new line. `'block'` blocks the thread until
     * there is space.
     */
    whenFull?: 'shed' | 'drop' | 'block'
    /** The longest time in ms for which `'block'` blocks before the line is dropped; 0, the default, is no limit. */
    wait?: number
    /** Lines are written when they have so many bytes; 64 KiB if missing. 0 writes each event when it is logged. */
    batch?: number
    /** The interval in ms of the event `log totals` while there are events; 0, the default, is never. */
    heartbeat?: number
    /**
     * The longest time in ms by which lines that a slow destination has not taken delay the end of the process; 10 s if
     * missing. After a second without progress they are dropped in any case.
     */
    exitTimeout?: number
  }

  /** A time with nanoseconds, such as a Temporal.Instant. */
  interface Instant {
    readonly epochNanoseconds: bigint
  }

  /** The http object of an event. Keys that are missing, empty or 0 are not written, except for the status. */
  interface HTTP {
    status_code?: number
    method?: string
    scheme?: string
    host?: string
    port?: number
    path?: string
    query?: string
    started_at?: Date | Instant
    ended_at?: Date | Instant
    /** In nanoseconds. */
    duration?: number | bigint
    response_content_length?: number | bigint
    route?: string
    client?: string
    protocol?: string
    user_agent?: string
    referer?: string
    request_content_length?: number | bigint
  }

  /** The event's own keys, other than its fields. An id, http or auth replaces an earlier one; errors are added. */
  interface Parts {
    created_at?: Date | Instant | number
    trace_id?: string
    span_id?: string
    http?: HTTP
    auth?: { identity: string, identity_type: 'user' | 'service' }
    errors?: readonly unknown[]
  }

  /**
   * Writes an event: a constant sentence, with variable data in fields. An error, which may be any value that was thrown
   * except a plain object, has its message, its stack, its own properties, and those of its causes; an AggregateError
   * adds each of its errors. An error in a field is an error of the event too. No argument can throw or break a line.
   */
  interface Log<Fields extends object> {
    (event: string, fields?: Partial<Fields>): void
    <E>(event: string, error: E & Thrown<E>, fields?: Partial<Fields>): void
  }

  /** Is unknown for an error, and never for fields. */
  type Thrown<E> = unknown extends E ? unknown : E extends Error | string | null | undefined ? unknown : never

  type Logger<Fields extends object = AnyFields, Levels extends Level = Level> =
    { readonly [level in Levels]: Log<Fields> } & Methods<Fields, Levels>

  interface Methods<Fields extends object, Levels extends Level> {
    /** Returns a logger whose events have these fields too. They are encoded once. */
    child(fields: Partial<Fields>): Logger<Fields, Levels>
    /** Returns a logger whose events have these parts. */
    with(parts: Parts): Logger<Fields, Levels>
    /**
     * Returns a logger whose events have the http object of a request of node:http, node:http2, Express, Fastify or Koa.
     * With a response it has the status and the content-length that were sent.
     */
    http(request: Request, response?: Response): Logger<Fields, Levels>
    /**
     * Writes all lines, and blocks the thread until the destination has taken them, or has taken nothing for a second, or
     * the exitTimeout of the queue is over. It reports whether nothing is left.
     */
    flush(): boolean
    /** Is flush, and closes a file. Later events are dropped. The end of the process needs no call. */
    close(): boolean
    stats(): Stats
  }

  type Request = NodeRequest | { raw: NodeRequest } | { req: NodeRequest }
  type Response = NodeResponse | { raw: NodeResponse } | { res: NodeResponse }

  /**
   * Counts of events. At any time, emitted = written + dropped + waiting. The events that the program has logged are
   * emitted + held + discarded.
   */
  interface Stats {
    /** Events of requests in flight that are written if their request becomes interesting. */
    held: number
    /** Held events that were not written, because their request was not interesting. */
    discarded: number
    emitted: number
    written: number
    dropped: number
    waiting: number
    /** The dropped events by level and reason. */
    losses: { [level in Level]?: { [reason in 'full' | 'write_error' | 'closed']?: number } }
    waitingBytes: number
    highWaterBytes: number
    bytes: number
    /** Events that went to stderr, because the reader of stdout has gone. */
    diverted: number
    lastError: Error | null
  }

  /** Returns the trace id of the request that is being handled or of the active span, for other services; '' if none. */
  function traceId(): string

  /**
   * Returns a function that writes the events `http request received` and `http request completed` of each request, and
   * gives its trace id to all events that are logged while it is handled. The id is that of the active span, of the
   * traceparent or X-Request-Id of the request, or a new one.
   *
   * The completed event of a request that failed has the error of its handlers, or the property `err` of its response.
   * `data.failure` is `'client_gone'`, or `'aborted'` if the handler has destroyed the response.
   *
   * @example
   * app.use(weir.middleware(log)) // Express, Koa
   * app.addHook('onRequest', weir.middleware(log)) // Fastify
   * createServer((request, response) => requests(request, response, () => handle(request, response)))
   *
   * @throws TypeError, like the functions below, if log is no logger of this package, or an option has another name or type.
   */
  function middleware(log: AnyLogger, options?: MiddlewareOptions): Middleware

  interface MiddlewareOptions {
    /** `'completed'` leaves out the first event; `'all'` is the default. */
    events?: 'all' | 'completed'
    /** Writes all events of some requests, and of the others only the completed event. `{}` has the defaults. */
    keep?: KeepOptions
  }

  /**
   * Selects the requests whose events are written: those that fail, with a status of 500 or more, or because the client
   * disconnects; those that log an event of warn or worse, which is written at once with the events before it; and the
   * ones below. The events of other requests are discarded when they end.
   */
  interface KeepOptions {
    /** The duration in ms above which a request is interesting; if missing or 0, that of 99% of the requests of its route. */
    slowerThan?: number
    /** The share of the requests, from 0 to 1, that are interesting anyway, chosen by their trace ids. 0 is the default. */
    share?: number
    /** Reports whether the flag `sampled` in the traceparent of a client is followed. If missing, it is that of no client. */
    trust?: ((request: NodeRequest) => boolean) | null
    /** The size of the events that are held for a request; 32 KiB if missing. The oldest of more events are discarded. */
    bytes?: number
  }

  interface Middleware {
    (context: { req: NodeRequest, res: NodeResponse }, next: () => Promise<any>): unknown
    (request: NodeRequest, response: NodeResponse, next: (...args: any[]) => unknown): void
    (request: { raw: NodeRequest }, reply: { raw: NodeResponse }, done: (...args: any[]) => unknown): void
  }

  /**
   * Returns the destination of a pino logger, `pino(options, weir.pinoStream(log))`, or of one of bunyan. The options
   * are those of pino, if its keys are others than `msg` and `err`.
   */
  function pinoStream(log: AnyLogger, options?: { messageKey?: string, errorKey?: string }): { write(line: string): void }

  /** Returns a transport of winston: `winston.createLogger({ transports: [weir.winstonTransport(log)] })`. */
  function winstonTransport(log: AnyLogger): Writable & { log(info: any, callback: () => void): any }

  /**
   * Makes the methods of the global console that print text write events, and returns a function that ends that.
   * `console.dir` is unchanged.
   */
  function captureConsole(log: AnyLogger): () => void

  /** A logger of any schema that has all levels. */
  type AnyLogger = Logger<any, Level>
}

export = weir
