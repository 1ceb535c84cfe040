'use strict'
// Logs lines from threads or processes that share stdout: node worker.js threads|cluster COUNT LINES
const cluster = require('node:cluster')
const { Worker, isMainThread } = require('node:worker_threads')

const weir = require('weir-log')

const [how, count, lines] = process.argv.slice(2)

if (how === 'threads' && isMainThread) {
  for (let i = 0; i < Number(count); i++) new Worker(__filename, { argv: process.argv.slice(2), env: { WORKER: String(i) } })
} else if (how === 'cluster' && cluster.isPrimary) {
  for (let i = 0; i < Number(count); i++) cluster.fork({ WORKER: String(i) })
} else {
  const log = weir({ namespace: 'worker', format: 'json' }).child({ worker: Number(process.env.WORKER) })
  let next = 0
  const turn = () => {
    for (let i = 0; i < 500 && next < Number(lines); i++) log.info('row', { number: next++, text: 'y'.repeat(next % 900) })
    if (next < Number(lines)) setImmediate(turn)
    else cluster.worker?.disconnect()
  }
  turn()
}
