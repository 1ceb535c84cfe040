'use strict'
// Logs lines and ends: node ends.js DESTINATION LINES HOW
const weir = require('weir-log')

const [to, lines, how] = process.argv.slice(2)
const log = weir({ namespace: 'ends', format: 'json', to })
for (let i = 0; i < Number(lines); i++) log.info('row', { number: i, text: 'x'.repeat(40) })

switch (how) {
  case 'exit': process.exit(3)
  case 'uncaught': throw new Error('uncaught')
  case 'rejection': Promise.reject(new Error('rejected')); break
  case 'SIGTERM': case 'SIGINT': case 'SIGHUP': case 'SIGQUIT': case 'SIGUSR2':
    process.kill(process.pid, how)
    setInterval(() => {}, 1000)
    break
  case 'handled':
    process.once('SIGTERM', () => {
      log.info('ended by the program')
      process.exit(4)
    })
    process.kill(process.pid, 'SIGTERM')
    setInterval(() => {}, 1000)
    break
  case 'later': setTimeout(() => log.info('row', { number: Number(lines) }), 20); break
  case 'in value': log.info('never', { get value() { process.exit(3) } }); break
  case 'caught':
    process.on('uncaughtException', () => log.info('row', { number: Number(lines) }))
    throw new Error('caught')
  case 'stall': stall(); break
  case 'in exit': process.on('exit', () => log.info('row', { number: Number(lines) })); break
}

// stall reports on stderr how late the latest of some timers was.
function stall() {
  let last = performance.now()
  let longest = 0
  const timer = setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  }, 10)
  setTimeout(() => {
    clearInterval(timer)
    console.error(`stalled for ${Math.round(longest)} ms`)
  }, 2500)
}
