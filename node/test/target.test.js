'use strict'
// Writes to files that are moved, deleted, truncated or full.
const assert = require('node:assert')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')

const { newForm } = require('../src/form.js')
const { Queue } = require('../src/queue.js')
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

const twoLines = '{"number":0}\n{"number":1}\n'

// How a file changes while the first bytes of a line are in it, and a check of the
// files afterwards: begun is in the old one, and lines are those that were not whole in it.
const changes = [
  {
    name: 'renamed',
    change: (file) => fs.renameSync(file, file + '.1'),
    want: (file, begun, lines) => assert.deepStrictEqual([read(file + '.1'), read(file)], [begun, lines])
  },
  {
    name: 'renamed, and another process has begun a line in the new one',
    change(file) {
      fs.renameSync(file, file + '.1')
      fs.writeFileSync(file, 'torn')
    },
    want: (file, begun, lines) => assert.deepStrictEqual([read(file + '.1'), read(file)], [begun, 'torn\n' + lines])
  },
  {
    name: 'renamed twice',
    change(file, queue) {
      fs.renameSync(file, file + '.1')
      queue.reopen()
      fs.renameSync(file, file + '.2')
    },
    want: (file, begun, lines) => assert.deepStrictEqual([read(file + '.1'), read(file + '.2'), read(file)], [begun, '', lines])
  },
  {
    name: 'truncated',
    change: (file) => fs.truncateSync(file),
    want: (file, begun, lines) => assert.strictEqual(read(file), lines)
  },
  {
    name: 'the same',
    change() {},
    want: (file) => assert.strictEqual(read(file), twoLines)
  }
]

for (const { name, change, want } of changes) {
  for (const byHangup of [true, false]) {
    test(`a line spans no two files: ${name}, ${byHangup ? 'with' : 'without'} SIGHUP`, (t) => {
      for (const at of [1, 12, 14, 25]) { // within each of the lines
        const file = temporary(t)
        const { writeSync } = fs
        let writes = 0
        const full = t.mock.method(fs, 'writeSync', (fd, bytes, begin, length) => {
          if (writes++ > 0) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
          return writeSync(fd, bytes, begin, Math.min(length, at))
        })
        const queue = new Queue(openTarget(file), newForm('json', 16384, false), {
          bytes: 1 << 20, whenFull: 'shed', wait: 0, batch: 64 << 10, heartbeat: 0, exitTimeout: 0, fallback: false
        }, () => '{}')
        for (const line of twoLines.trim().split('\n')) queue.put(3, line)
        queue.flush()
        change(file, queue)
        if (byHangup) queue.reopen()
        full.mock.restore()
        assert.ok(queue.close())
        const begun = twoLines.slice(0, at)
        want(file, begun, twoLines.slice(begun.lastIndexOf('\n') + 1))
        assert.strictEqual(queue.stats().written, 2, `after ${at} bytes`)
      }
    })
  }
}

test('the first line of a file whose last line is torn begins on a new one', (t) => {
  const file = temporary(t)
  for (const [before, after] of [['{"half', '{"half\nx\n'], ['{}\n', '{}\nx\n'], ['', 'x\n']]) {
    fs.writeFileSync(file, before)
    const target = openTarget(file)
    target.write(Buffer.from('x\n'), 0, 2)
    target.close()
    assert.strictEqual(read(file), after)
  }
})

test('a lost line does not merge with the next, also when its file is opened again', (t) => {
  const file = temporary(t)
  const target = openTarget(file)
  t.after(() => target.close())
  target.write(Buffer.from('lost'), 0, 4)
  target.torn = true // as the queue sets it
  target.reopen()
  target.endTorn()
  target.write(Buffer.from('one\n'), 0, 4)
  target.write(Buffer.from('lost'), 0, 4)
  target.torn = true
  fs.renameSync(file, file + '.1')
  target.reopen()
  target.endTorn()
  target.write(Buffer.from('two\n'), 0, 4)
  assert.deepStrictEqual([read(file + '.1'), read(file)], ['lost\none\nlost', 'two\n'])
})
