'use strict'
const weir = require('weir-log')

// collector returns a logger, its lines, and a function that parses them.
exports.collector = (options = {}) => {
  const lines = []
  const log = weir({ format: 'json', to: { write(line) { lines.push(line) } }, ...options })
  return { log, lines, events: () => lines.map((line) => JSON.parse(line)) }
}
