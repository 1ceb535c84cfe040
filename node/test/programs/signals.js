'use strict'
// Gets a signal for which other code has listeners too: node signals.js HOW
const fs = require('node:fs')

const weir = require('weir-log')

const [how, file] = process.argv.slice(2)
let log

// otherCopy returns another copy of the package.
function otherCopy() {
  for (const name of Object.keys(require.cache)) delete require.cache[name]
  return require('weir-log')
}

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
  case 'signal-exit': {
    const { onExit } = require('signal-exit')
    onExit(() => log.info('is at the end'))
    log = weir({ format: 'json' })
    log.info('began')
    process.kill(process.pid, 'SIGTERM')
    break
  }
  case 'signal-exit 3': {
    log = weir({ format: 'json' })
    log.info('began')
    require('signal-exit-3')(() => log.info('is at the end'))
    process.kill(process.pid, 'SIGTERM')
    break
  }
  case 'signal-exit 3 and 4': {
    require('signal-exit').onExit(() => {})
    log = weir({ format: 'json' })
    log.info('began')
    require('signal-exit-3')(() => log.info('is at the end'))
    process.kill(process.pid, 'SIGTERM')
    break
  }
  case 'copies':
    log = weir({ format: 'json' })
    log.info('one')
    otherCopy()({ format: 'json' }).info('two')
    process.kill(process.pid, 'SIGTERM')
    break
  case 'copies reopen': {
    const other = otherCopy()({ to: file })
    log = weir({ format: 'json' })
    fs.renameSync(file, file + '.1')
    process.kill(process.pid, 'SIGHUP')
    const timer = setInterval(() => {
      if (!fs.existsSync(file)) return
      clearInterval(timer)
      log.info('goes on', { listeners: process.listenerCount('SIGHUP') })
      other.info('goes on')
      process.exit(0)
    }, 1)
    break
  }
}

setTimeout(() => process.exit(9), 30_000) // no listener has ended the process
