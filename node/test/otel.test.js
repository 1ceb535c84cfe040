'use strict'
const assert = require('node:assert')
const { test } = require('node:test')

const { collector } = require('./collector.js')

test('events have the ids of the active span', () => {
  const { log, events } = collector()
  log.info('before OpenTelemetry is registered')
  const { NodeTracerProvider } = require('@opentelemetry/sdk-trace-node')
  const { context: contexts, trace } = require('@opentelemetry/api')
  new NodeTracerProvider().register()
  let context
  trace.getTracer('test').startActiveSpan('work', (span) => {
    context = span.spanContext()
    log.info('inside')
    log.with({ trace_id: 'own' }).info('own id')
    span.end()
  })
  const broken = { spanContext() { throw new Error('no') } }
  contexts.with(trace.setSpan(contexts.active(), broken), () => log.info('in a span that fails'))
  log.info('outside')
  const [before, inside, own, failed, outside] = events()
  assert.strictEqual(failed.trace_id, undefined)
  assert.deepStrictEqual([before.trace_id, outside.trace_id], [undefined, undefined])
  assert.deepStrictEqual([inside.trace_id, inside.span_id], [context.traceId, context.spanId])
  assert.deepStrictEqual([own.trace_id, own.span_id], ['own', undefined])
})
