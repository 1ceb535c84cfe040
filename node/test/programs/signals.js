'use strict'
// Gets a signal for which other code has listeners too: node signals.js HOW
const weir = require('weir-log')

const [how] = process.argv.slice(2)
let log

switch (how) {
  case 'once before':
    process.once('SIGTERM', () => {
      log.info('drains')
      setTimeout(() => {
        log.info('drained')
        process.exit(0)
      }, 10)
    })
    log = weir({ format: 'json' })
    process.kill(process.pid, 'SIGTERM')
    break
}

setTimeout(() => process.exit(9), 30_000) // no listener has ended the process
