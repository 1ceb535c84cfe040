'use strict'
// The stock of a shop, as a service in Node: GET /stock/ITEM.

const http = require('node:http')
const weir = require('weir-log')

const log = weir({ namespace: 'stock', format: 'json' })
const requests = weir.middleware(log)

const server = http.createServer((request, response) => requests(request, response, async () => {
  const count = await inStock(request.url.slice('/stock/'.length))
  response.end(`${count}\n`)
}))

// inStock has no parameter for the request: its events have the trace id nevertheless.
async function inStock(item) {
  await new Promise(setImmediate) // a database would be asked here
  log.info('stock counted', { item, count: item.length })
  return item.length
}

server.listen(Number(process.env.PORT ?? 8081), '127.0.0.1', () => log.info('listening', { port: server.address().port }))
process.once('SIGTERM', () => server.close())
