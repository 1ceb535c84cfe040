'use strict'

const never = new Int32Array(new SharedArrayBuffer(4))

// sleep blocks the thread.
function sleep(ms) { Atomics.wait(never, 0, 0, ms) }

module.exports = { sleep }
