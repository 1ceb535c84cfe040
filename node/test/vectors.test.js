'use strict'
// Logs the event of each vector of the project, and compares the bytes of its line in each format.

const assert = require('node:assert')
const fs = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')

const { formats, logged } = require('./programs/vectors.js')

const folder = path.join(__dirname, '../../testdata/vectors')

// JavaScript has no numbers of 32 bits, cannot make up a line of a stack that contains a line break, and has no error with
// a field "message" besides its message. Strings with lone surrogates take the place of those with invalid UTF-8.
const leftOut = new Set(['float32', 'errors: frames that are hostile', 'reserved: in the data of errors'])

let compared = 0

for (const file of fs.readdirSync(folder).filter((name) => name.endsWith('.jsonl'))) {
  const subject = file.replace('.jsonl', '')
  test(`vectors: ${subject}`, { skip: leftOut.has(subject) && 'JavaScript has no such values' }, () => {
    for (const line of fs.readFileSync(path.join(folder, file), 'utf8').trim().split('\n')) {
      const vector = JSON.parse(line)
      if (leftOut.has(`${subject}: ${vector.name}`)) continue
      for (const [key, format] of Object.entries(formats)) {
        assert.strictEqual(logged(vector, format), vector[key], `${vector.name}, ${format}`)
        compared++
      }
    }
  })
}

test('vectors: most of them were compared', () => assert.ok(compared >= 4 * 380, `${compared} lines`))
