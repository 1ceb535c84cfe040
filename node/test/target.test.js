'use strict'
// Writes to files that are moved, deleted, truncated or full.
const assert = require('node:assert')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')

const { openTarget } = require('../src/target.js')

function temporary(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weir-log-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  return path.join(folder, 'log')
}

// clock stops Date.now, and returns a function that adds seconds to it.
function clock(t) {
  let now = Date.now()
  t.mock.method(Date, 'now', () => now)
  return (seconds) => { now += 1000 * seconds }
}

const read = (file) => fs.readFileSync(file, 'utf8')

test('a path that leads nowhere leaves the file that is open, until it leads to a file again', (t) => {
  const file = temporary(t)
  const pass = clock(t)
  const target = openTarget(file)
  t.after(() => target.close())
  const write = (line) => assert.strictEqual(target.write(Buffer.from(line), 0, line.length), line.length)
  write('one\n')
  fs.renameSync(file, file + '.1')
  fs.symlinkSync(file, file) // stat fails, as for a folder that the process must not read any more
  pass(2)
  write('two\n')
  fs.unlinkSync(file)
  pass(2)
  write('three\n')
  assert.deepStrictEqual([read(file + '.1'), read(file)], ['one\ntwo\n', 'three\n'])
})
