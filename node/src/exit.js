'use strict'
// Writes the waiting lines of all queues when the process or the worker thread ends, and reopens their files on SIGHUP.

const fs = require('node:fs')
const { isMainThread } = require('node:worker_threads')

// Signals that end a process. SIGABRT is not one of them: a listener would keep it from ending a process whose thread is
// blocked, and process.abort calls none.
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']

const { writeAll } = require('./hold.js')

const queues = new Set()
const reopened = new Set() // those whose files are reopened when the process gets SIGHUP
let ending = false

function isEnding() { return ending }

function add(queue) {
  if (process._exiting) ending = true // a listener for exit has made the logger; Node has no public name for that
  if (queues.size === 0) {
    process.on('exit', end)
    // Before other listeners: those of process.once are no longer counted when they run.
    if (isMainThread) for (const signal of signals) process.prependListener(signal, interrupted)
  }
  queues.add(queue)
}

function remove(queue) {
  reopened.delete(queue)
  queues.delete(queue)
  if (queues.size > 0) return
  process.off('exit', end)
  if (isMainThread) for (const signal of signals) process.off(signal, interrupted)
}

// end is called for the end of the event loop, process.exit, uncaught exceptions and unhandled rejections.
function end() {
  ending = true
  writeAll()
  for (const queue of queues) if (!queue.end()) complain(queue)
}

// interrupted writes the lines, and ends the process as the signal would have without this listener. A program that has
// a listener of its own ends the process itself. With files, SIGHUP reopens them instead.
function interrupted(signal) {
  const listeners = process.listeners(signal)
  const copies = listeners.filter((listener) => typeof listener[hasFiles] === 'function')
  const reopens = signal === 'SIGHUP' && copies.some((listener) => listener[hasFiles]())
  const goesOn = reopens || listeners.length > copies.length + listenersOfSignalExit()
  if (!goesOn) {
    ending = true // the listeners of signal-exit, which are called later, may log
    writeAll()
  }
  for (const queue of queues) if (!(goesOn ? queue.flush() : queue.end()) && !goesOn) complain(queue)
  if (reopens) for (const queue of reopened) queue.reopen()
  if (goesOn) return
  process.off(signal, interrupted)
  process.kill(process.pid, signal)
}

// The listeners of all copies of this package in the process have this property: a function that reports whether SIGHUP
// reopens files of the copy.
const hasFiles = Symbol.for('weir-log.hasFiles')
interrupted[hasFiles] = () => reopened.size > 0

// listenersOfSignalExit returns how many listeners for a signal belong to copies of the package signal-exit, versions 3
// and 4. Like this package, they end the process only if there are no others, so neither may wait for the other.
function listenersOfSignalExit() {
  const { __signal_exit_emitter__: version3 } = process
  const version4 = globalThis[Symbol.for('signal-exit emitter')]
  return (version3?.count ?? 0) + (version4?.count ?? 0)
}

// complain writes to stderr how many events are lost. Nothing else can report that.
function complain(queue) {
  try {
    fs.writeSync(2, `weir-log: ${queue.stats().waiting} events could not be written before the end of the process\n`)
  } catch {
    // stderr takes nothing either.
  }
}

function reopenOnHangup(queue) { if (isMainThread && process.platform !== 'win32') reopened.add(queue) }

module.exports = { add, remove, isEnding, reopenOnHangup }
