'use strict'
const assert = require('node:assert')
const { test } = require('node:test')

const { collector } = require('./collector.js')

test('events have the ids of the active span', () => {
  const { log, events } = collector()
  log.info('before OpenTelemetry is registered')
  const { NodeTracerProvider } = require('@opentelemetry/sdk-trace-node')
  const { trace } = require('@opentelemetry/api')
  new NodeTracerProvider().register()
  let context
  trace.getTracer('test').startActiveSpan('work', (span) => {
    context = span.spanContext()
    log.info('inside')
    log.with({ trace_id: 'own' }).info('own id')
    span.end()
  })
  log.info('outside')
  const [before, inside, own, outside] = events()
  assert.deepStrictEqual([before.trace_id, outside.trace_id], [undefined, undefined])
  assert.deepStrictEqual([inside.trace_id, inside.span_id], [context.traceId, context.spanId])
  assert.deepStrictEqual([own.trace_id, own.span_id], ['own', undefined])
})
