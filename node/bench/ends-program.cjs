'use strict'
// Logs lines in one turn of the event loop, and ends: node ends-program.cjs LOGGER DESTINATION LINES HOW

const [name, to, lines, how] = process.argv.slice(2)

const open = {
  weir() {
    const log = require('weir-log')({ format: 'json', to })
    return (number) => log.info('row', { number })
  },
  pino() {
    const log = to === 'stdout' ? require('pino')() : require('pino')(require('pino').destination({ dest: to, sync: false }))
    return (number) => log.info({ number }, 'row')
  },
  'winston-file'() {
    const { createLogger, transports } = require('winston')
    const log = createLogger({ transports: [new transports.File({ filename: to })] })
    return (number) => log.info('row', { number })
  },
  'winston-console'() {
    const { createLogger, transports } = require('winston')
    const log = createLogger({ transports: [new transports.Console()] })
    return (number) => log.info('row', { number })
  },
  console() { return (number) => console.log(JSON.stringify({ event: 'row', number })) }
}

const log = open[name]()
for (let i = 0; i < Number(lines); i++) log(i)

switch (how) {
  case 'process.exit': process.exit(0)
  case 'uncaught': throw new Error('uncaught')
  case 'rejection': Promise.reject(new Error('rejected')); break
  case 'SIGTERM':
    process.kill(process.pid, 'SIGTERM')
    setInterval(() => {}, 1000)
}
