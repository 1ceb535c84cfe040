'use strict'
// Copies stdin to stdout, at most 4 MiB a second.

const fs = require('node:fs')

const piece = Buffer.alloc(64 * 1024)
const pause = new Int32Array(new SharedArrayBuffer(4))

for (let n; (n = fs.readSync(0, piece)) > 0;) {
  fs.writeSync(1, piece, 0, n)
  Atomics.wait(pause, 0, 0, n / (4 * 1024 * 1024) * 1000)
}
