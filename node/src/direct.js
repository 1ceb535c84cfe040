'use strict'
// Gives each line to an object with a method write when it is logged, such as a collector in a test.

const { Tally } = require('./tally.js')

class Direct {
  #writer
  #form
  #tally = new Tally()

  constructor(writer, form) {
    this.#writer = writer
    this.#form = form
  }

  put(severity, json) {
    const line = this.#form.finish(json)
    const bytes = Buffer.byteLength(line)
    this.#tally.emit(bytes)
    try {
      this.#writer.write(line)
      this.#tally.wrote(1, bytes)
    } catch (error) {
      this.#tally.lastError = error
      this.#tally.lose(severity, bytes, 'write_error')
    }
  }

  flush() { return true }
  close() { return true }
  stats() { return this.#tally.snapshot() }
}

module.exports = { Direct }
