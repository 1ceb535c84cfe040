'use strict'
// The files and streams that a queue writes to. A write takes some bytes or throws. Writes to pipes and sockets do not
// wait for the reader, if the operating system allows that.

const fs = require('node:fs')
const net = require('node:net')
const tty = require('node:tty')

const { sleep } = require('./sleep.js')

const checkEvery = 1000 // in ms
const tornFor = 50 // in ms; a last line without a newline is torn if the file has not changed for so long
const notBlocking = fs.constants.O_WRONLY | fs.constants.O_NONBLOCK
const newline = Buffer.from('\n')
const none = Buffer.alloc(0)

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

// A File appends to a path. It is opened again after it was renamed or deleted. A line never spans two files: its beginning
// is repeated in the second one.
class File extends Target {
  isTerminal = false
  #path
  #fd
  #size // of the file, as far as it is known
  #checkedAt
  #begun = none // the last line, if it is not complete
  #pending = none // bytes to write before any others

  constructor(path) {
    super()
    this.#path = path
    this.#use(fs.openSync(path, 'a'))
  }

  write(bytes, begin, end) {
    const now = Date.now()
    if (this.#begun.length > 0 || now - this.#checkedAt >= checkEvery || now < this.#checkedAt) this.reopen()
    return this.writeBytes(bytes, begin, end)
  }

  writeBytes(bytes, begin, end) {
    while (this.#pending.length > 0) {
      this.#pending = this.#pending.subarray(this.#append(this.#pending, 0, this.#pending.length))
    }
    const length = this.#append(bytes, begin, end)
    if (length === 0) return 0
    const last = bytes.lastIndexOf(0x0a, begin + length - 1) + 1 // after the last newline
    if (last === begin + length) this.#begun = none
    else if (last > begin) this.#begun = Buffer.from(bytes.subarray(last, begin + length))
    else this.#begun = Buffer.concat([this.#begun, bytes.subarray(begin, begin + length)])
    return length
  }

  #append(bytes, begin, end) {
    const length = fs.writeSync(this.#fd, bytes, begin, end - begin)
    this.#size += length
    return length
  }

  // reopen opens the path again if it leads to another file. If that fails, events continue to go to the old file. After a
  // truncation it repeats the beginning of the last line.
  reopen() {
    this.#checkedAt = Date.now()
    try {
      const at = fs.statSync(this.#path)
      const open = fs.fstatSync(this.#fd)
      if (at.ino === open.ino && at.dev === open.dev) {
        if (open.isFile() && open.size < this.#size) this.#beginAgain(none)
        this.#size = open.size
        return
      }
    } catch {
      // The path leads nowhere, or the process must not read the folder.
    }
    let fd
    try {
      fd = fs.openSync(this.#path, 'a')
    } catch {
      return
    }
    fs.closeSync(this.#fd)
    this.#use(fd)
  }

  #use(fd) {
    this.#fd = fd
    this.#checkedAt = Date.now()
    const stat = fs.fstatSync(fd)
    this.#size = stat.size
    this.#beginAgain(stat.isFile() && endsTorn(this.#path, stat.size) ? newline : none)
  }

  // #beginAgain repeats the beginning of the last line after some bytes, unless that line is lost.
  #beginAgain(before) {
    if (this.torn) this.#begun = none
    this.torn = false
    this.#pending = Buffer.concat([before, this.#begun])
  }

  close() { fs.closeSync(this.#fd) }
}

// endsTorn reports whether the last line of a file of that size has no newline, as far as the file can be read. While
// another process writes a line, the file may look the same.
function endsTorn(path, size) {
  if (size === 0) return false
  let fd = -1
  try {
    fd = fs.openSync(path, 'r')
    const last = Buffer.alloc(1)
    for (let i = 0; i < tornFor; i++) {
      if (fs.fstatSync(fd).size !== size || fs.readSync(fd, last, 0, 1, size - 1) === 0 || last[0] === 0x0a) return false
      sleep(1)
    }
    return true
  } catch {
    return false
  } finally {
    if (fd >= 0) fs.closeSync(fd)
  }
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
