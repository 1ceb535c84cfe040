'use strict'
// The files and streams that a queue writes to. A write takes some bytes or throws. Writes to pipes and sockets do not
// wait for the reader, if the operating system allows that.

const fs = require('node:fs')
const net = require('node:net')
const tty = require('node:tty')

const checkEvery = 1000 // in ms
const notBlocking = fs.constants.O_WRONLY | fs.constants.O_NONBLOCK
const newline = Buffer.from('\n')

// Only writes of at most so many bytes stay whole in a pipe that several processes share.
const pipeBuf = 4096

// linesWithin returns the end of the first lines of bytes from begin that have at most so many bytes; at least of one.
function linesWithin(bytes, begin, end, most) {
  if (end - begin <= most) return end
  const last = bytes.lastIndexOf(0x0a, begin + most - 1)
  return (last >= begin ? last : bytes.indexOf(0x0a, begin)) + 1 || end
}

class Target {
  torn = false // whether the last line has no end

  // endTorn ends the last line if it was torn. It throws like write.
  endTorn() {
    if (!this.torn) return
    this.writeBytes(newline, 0, 1)
    this.torn = false
  }

  reopen() {}
  close() {}
}

// A Stream is a descriptor that the process got, such as stdout, or a named pipe.
class Stream extends Target {
  isTerminal
  #fd
  #own = -1 // a descriptor that this Stream has opened
  #socket // keeps the descriptor in the mode that does not block
  #shared = true // whether other processes may write to it too, line by line

  constructor(fd, isOwn = false) {
    super()
    this.#fd = fd
    this.isTerminal = tty.isatty(fd)
    const stat = fs.fstatSync(fd)
    if (isOwn) {
      this.#own = fd
    } else if (stat.isFIFO()) {
      this.#openAgain()
    } else if (stat.isSocket()) {
      this.#socket = new net.Socket({ fd, readable: false, writable: true })
    } else {
      this.#shared = this.isTerminal // a person waits for the terminal anyway: its writes block, like those of console
    }
  }

  // #openAgain opens the pipe for this Stream, because the mode that does not block would apply to all processes that
  // have inherited the descriptor. Only Linux can do that.
  #openAgain() {
    try {
      this.#own = fs.openSync(`/proc/self/fd/${this.#fd}`, notBlocking)
      this.#fd = this.#own
    } catch {
      // Writes wait for the reader.
    }
  }

  write(bytes, begin, end) {
    return this.writeBytes(bytes, begin, this.#shared ? linesWithin(bytes, begin, end, pipeBuf) : end)
  }

  writeBytes(bytes, begin, end) { return fs.writeSync(this.#fd, bytes, begin, end - begin) }

  close() { if (this.#own >= 0) fs.closeSync(this.#own) }
}

// A File appends to a path. It is opened again after it was renamed or deleted.
class File extends Target {
  isTerminal = false
  #path
  #fd
  #checkedAt = Date.now()

  constructor(path) {
    super()
    this.#path = path
    this.#fd = fs.openSync(path, 'a')
  }

  write(bytes, begin, end) {
    const now = Date.now()
    if (now - this.#checkedAt >= checkEvery || now < this.#checkedAt) {
      this.#checkedAt = now
      if (!this.torn && this.#isMoved()) this.reopen()
    }
    return this.writeBytes(bytes, begin, end)
  }

  writeBytes(bytes, begin, end) { return fs.writeSync(this.#fd, bytes, begin, end - begin) }

  // #isMoved reports whether the path may lead to another file.
  #isMoved() {
    try {
      const at = fs.statSync(this.#path)
      const open = fs.fstatSync(this.#fd)
      return at.ino !== open.ino || at.dev !== open.dev
    } catch {
      return true // reopen finds out
    }
  }

  // reopen opens the path again. If that fails, events continue to go to the old file.
  reopen() {
    let fd
    try {
      fd = fs.openSync(this.#path, 'a')
    } catch {
      return
    }
    fs.closeSync(this.#fd)
    this.#fd = fd
    this.torn = false
  }

  close() { fs.closeSync(this.#fd) }
}

function openTarget(to) {
  if (to === 'stdout') return new Stream(1)
  if (to === 'stderr') return new Stream(2)
  if (typeof to === 'number') return new Stream(to)
  // A named pipe without a reader is an error: opening it for writes that block would wait for one.
  const isPipe = fs.statSync(to, { throwIfNoEntry: false })?.isFIFO()
  return isPipe ? new Stream(fs.openSync(to, notBlocking), true) : new File(to)
}

module.exports = { openTarget, Stream, Target }
