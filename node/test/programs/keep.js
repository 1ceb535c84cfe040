'use strict'
// Serves requests whose events are held. Writes the URL to stderr.
const http = require('node:http')
const weir = require('weir-log')

const log = weir({ namespace: 'keep', format: 'json', level: 'debug' })
const requests = weir.middleware(log, { keep: { slowerThan: 3_600_000 } })
const server = http.createServer((request, response) => requests(request, response, () => {
  log.debug('handling')
  switch (request.url) {
    case '/fails': response.statusCode = 500; break
    case '/waits': response.write('..'); return
    case '/crashes': setTimeout(() => { throw new Error('uncaught') }, 1); return
    case '/stats': response.end(JSON.stringify(log.stats())); return
  }
  response.end()
})).listen(0, '127.0.0.1', () => console.error(`http://127.0.0.1:${server.address().port}`))
