'use strict'
// A Queue holds lines in memory until its target takes them. The lines of one turn of the event loop are written
// together when it ends, or earlier if they are many.

const { performance } = require('node:perf_hooks')

const { now } = require('./instant.js')
const { sleep } = require('./sleep.js')
const { Stream } = require('./target.js')
const { Tally } = require('./tally.js')
const { escapeSpecial, isPlain } = require('./text.js')
const exit = require('./exit.js')

const policies = ['shed', 'drop', 'block']

const sizeOfBuffer = 256 * 1024 // for a batch of 64 KiB in any alphabet
const leastWaiting = 64 * 1024 // bytes of a chunk that waits for the target
const gapPause = 1000 // the least time in ms between two reports of dropped events
const retryPrimary = 1000 // the time in ms after which a stream whose reader had gone is tried again
const patience = 1000 // the time in ms without progress after which flush gives up
const fatalWait = 1000 // the longest time in ms by which a fatal event delays its caller

// The longest delays in ms before a write is tried again: for a full pipe, and for errors that an operator can repair.
const roomDelay = 20
const repairDelay = 500
const repairable = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'ENOBUFS', 'ENOMEM', 'EMFILE', 'ENFILE'])

// A Chunk is lines that are written together. ends are the ends of the lines in bytes.
class Chunk {
  at = 0 // what is before it was written
  first = 0 // the first line that is not counted yet

  constructor(bytes, end, ends, severities) {
    this.bytes = bytes
    this.end = end
    this.ends = ends
    this.severities = severities
  }

  get beginOfLine() { return this.first === 0 ? 0 : this.ends[this.first - 1] }
}

class Queue {
  #o
  #primary
  #fallback = null // for lines that stdout does not take
  #target
  #failedAt = 0 // when the primary target failed, by performance.now()
  #broken = null // the error of a target that has no fallback
  #form
  #report // encodes an event of the queue

  #chunks = []
  #text = '' // lines after those of the chunks
  #textBytes = 0 // until #seal, a character of an unfinished line counts as one byte
  #isFinished = true // whether no line in #text has to be escaped
  #ends = []
  #severities = []
  #buffer // for the chunk that is written next; null while a chunk uses it

  #tally = new Tally()
  #immediate = null
  #retry = null // timer
  #delay = 1 // before the next retry, in ms
  #triedAt = 0
  #closed = false
  #gaveUp = false // whether end has left lines behind

  #gap = '' // when the first event was dropped that is not reported yet
  #reported = new Map()
  #reportedAt = -Infinity
  #gapTimer = null
  #opened = now()
  #totals = null // timer

  // report(event, severity, fields) returns the JSON of an event.
  constructor(target, form, options, report) {
    this.#o = options
    this.#form = form
    this.#primary = this.#target = target
    if (options.fallback) this.#fallback = new Stream(2)
    this.#report = report
    this.#buffer = Buffer.allocUnsafeSlow(sizeOfBuffer)
    exit.add(this)
  }

  put(severity, json) {
    const isDone = json.length >= this.#o.batch && this.#isIdle() && this.#putNow(severity, json)
    if (!isDone && !this.#add(severity, json)) return
    if (severity === 0 || exit.isEnding() && !this.#gaveUp) this.flush(fatalWait)
  }

  // #isIdle reports whether nothing waits and the last write was successful.
  #isIdle() { return this.#tally.waiting === 0 && this.#gap === '' && this.#failedAt === 0 && !this.#closed }

  // #putNow writes a line that makes a batch by itself. It reports false, and does nothing, if the line needs an escape
  // or may have to be cut.
  #putNow(severity, json) {
    if (json.length > this.#form.certain || this.#buffer === null || 3 * json.length >= sizeOfBuffer) return false
    const bytes = this.#buffer
    const line = json + '\n'
    const length = bytes.write(line)
    if (length !== line.length || !isPlain(line)) return false
    this.#tally.emit(length)
    let written = 0
    try {
      written = this.#target.write(bytes, 0, length)
    } catch {
      // #drain gets the same error.
    }
    if (written === length) {
      this.#count(1, length)
      return true
    }
    const chunk = new Chunk(bytes, length, [length], [severity])
    chunk.at = written
    this.#buffer = null
    this.#chunks.push(chunk)
    this.#drain()
    return true
  }

  // #add adds a line to the queue. It reports whether there is room.
  #add(severity, json) {
    const isFinished = json.length > this.#form.certain
    const line = isFinished ? this.#form.finish(json) : json + '\n'
    const bytes = isFinished ? Buffer.byteLength(line) : line.length
    if (this.#closed || !this.#hasRoom(severity, bytes) && !this.#makeRoom(severity, bytes)) {
      this.#tally.refuse(severity, this.#closed ? 'closed' : 'full')
      this.#gap ||= now()
      return false
    }
    this.#tally.emit(bytes)
    if (!isFinished) this.#isFinished = false
    this.#text += line
    this.#textBytes += bytes
    this.#ends.push(this.#textBytes)
    this.#severities.push(severity)
    if (this.#textBytes >= this.#o.batch && !this.#isEarly()) {
      this.#drain()
    } else if (this.#textBytes >= Math.max(this.#o.batch, leastWaiting)) {
      this.#seal()
    } else if (this.#immediate === null && this.#retry === null) {
      this.#immediate = setImmediate(this.#endOfTurn)
    }
    return true
  }

  // #isEarly reports whether a write has failed so recently that it is not tried again yet.
  #isEarly() { return this.#retry !== null && performance.now() - this.#triedAt < this.#delay }

  #endOfTurn = () => {
    this.#immediate = null
    this.#drain()
  }

  #hasRoom(severity, bytes) {
    const { waitingBytes } = this.#tally
    return waitingBytes === 0 || waitingBytes + bytes <= share(this.#o.whenFull, severity, this.#o.bytes)
  }

  // #makeRoom writes lines to make room for one, and waits for that if the policy is block.
  #makeRoom(severity, bytes) {
    const began = performance.now()
    if (!this.#isEarly()) this.#drain()
    const { whenFull, wait } = this.#o
    while (!this.#hasRoom(severity, bytes)) {
      if (whenFull !== 'block' || wait > 0 && performance.now() - began >= wait) return false
      sleep(this.#delay)
      this.#drain()
    }
    return true
  }

  // #seal makes a chunk of the lines in #text.
  #seal() {
    const text = this.#text
    if (text === '') return
    let bytes = this.#buffer
    let length = 0
    if (bytes !== null && 3 * text.length <= bytes.length) {
      length = bytes.write(text)
      this.#buffer = null
    }
    if (length !== text.length || !this.#isFinished && !isPlain(text)) {
      bytes = Buffer.from(this.#isFinished ? text : escapeSpecial(text))
      length = bytes.length
      if (length !== this.#textBytes) this.#correct(bytes)
    }
    this.#chunks.push(new Chunk(bytes, length, this.#ends, this.#severities))
    this.#text = ''
    this.#textBytes = 0
    this.#isFinished = true
    this.#ends = []
    this.#severities = []
  }

  // #correct counts the bytes of lines that had to be escaped, or are not ASCII. Each has one newline, at its end.
  #correct(bytes) {
    let end = 0
    this.#ends = this.#ends.map(() => end = bytes.indexOf(0x0a, end) + 1)
    this.#tally.grow(end - this.#textBytes)
  }

  // #drain writes until nothing is left or the target takes no more. Then it tries again later.
  #drain() {
    this.#seal()
    while (this.#chunks.length > 0) {
      const chunk = this.#chunks[0]
      try {
        this.#write(chunk)
      } catch (error) {
        if (this.#isPassing(error)) return
        this.#fail(chunk, error)
      }
      if (chunk.at < chunk.end) continue
      this.#chunks.shift()
      if (chunk.bytes.length === sizeOfBuffer) this.#buffer = chunk.bytes
      this.#reportGap(gapPause)
    }
    if (this.#retry !== null) this.#retryLater(null)
  }

  // #write writes some bytes of a chunk, and counts the lines that are whole.
  #write(chunk) {
    const isNewLine = chunk.at === chunk.beginOfLine
    if (this.#failedAt > 0 && isNewLine && performance.now() - this.#failedAt >= retryPrimary) {
      this.#target = this.#primary
      this.#failedAt = 0
      this.#broken = null
    }
    if (this.#broken !== null) throw this.#broken
    if (isNewLine) this.#target.endTorn()
    chunk.at += this.#target.write(chunk.bytes, chunk.at, chunk.end)
    this.#delay = 1
    const begin = chunk.beginOfLine
    const before = chunk.first
    if (chunk.at === chunk.end) chunk.first = chunk.ends.length
    else while (chunk.ends[chunk.first] <= chunk.at) chunk.first++
    const lines = chunk.first - before
    if (lines > 0) this.#count(lines, chunk.beginOfLine - begin)
  }

  // #count counts lines that were written.
  #count(lines, bytes) {
    this.#tally.wrote(lines, bytes)
    if (this.#target === this.#fallback) this.#tally.diverted += lines
    if (this.#o.heartbeat > 0) this.#totals ??= setTimeout(() => this.#reportTotals(), this.#o.heartbeat).unref()
  }

  // #isPassing reports whether the target may work again after the error, and then schedules another attempt.
  #isPassing(error) {
    if (error.code !== 'EAGAIN' && !repairable.has(error.code)) return false
    if (error.code !== 'EAGAIN') this.#tally.lastError = error
    this.#retryLater(error.code === 'EAGAIN' ? roomDelay : repairDelay)
    return true
  }

  #retryLater(longest) {
    clearTimeout(this.#retry)
    this.#retry = null
    if (longest === null) return
    this.#triedAt = performance.now()
    this.#delay = Math.min(2 * this.#delay, longest)
    this.#retry = setTimeout(() => this.#drain(), this.#delay).unref() // exit.js writes what is left when the loop ends
  }

  // #fail continues after an error that does not pass: with the fallback from the beginning of the line, or else with
  // the next line.
  #fail(chunk, error) {
    const begin = chunk.beginOfLine
    const end = chunk.ends[chunk.first]
    if (chunk.at > begin) this.#target.torn = true
    this.#tally.lastError = error
    if (this.#broken === null) this.#failedAt = performance.now()
    if (this.#fallback !== null && this.#target === this.#primary) {
      this.#target = this.#fallback
      chunk.at = begin
      return
    }
    this.#broken = error
    if (chunk.at === end - 1) {
      this.#tally.wrote(1, end - begin) // only the newline is missing, which the next line begins with
    } else {
      this.#tally.lose(chunk.severities[chunk.first], end - begin, 'write_error')
      this.#gap ||= now()
    }
    chunk.at = end
    chunk.first++
  }

  // #reportGap writes an event about dropped events, unless the last one was written less than pause ms ago.
  #reportGap(pause) {
    if (this.#gap === '' || this.#broken !== null) return
    const due = this.#reportedAt + pause - performance.now()
    if (due > 0) {
      this.#gapTimer ??= setTimeout(this.#gapIsDue, due).unref()
      return
    }
    this.#reportedAt = performance.now()
    const count = this.#tally.losses(this.#reported)
    this.#reported = this.#tally.copyOfDropped()
    this.#ahead('log events dropped', 2, { count, since: this.#gap })
    this.#gap = ''
  }

  #gapIsDue = () => {
    this.#gapTimer = null
    this.#reportGap(0)
    this.#drain()
  }

  #reportTotals() {
    clearTimeout(this.#totals)
    this.#totals = null
    const { emitted, written, dropped, waiting } = this.#tally
    this.#ahead('log totals', 3, { since: this.#opened, emitted, written, dropped, waiting })
    this.#drain()
  }

  // #ahead puts an event of the queue before the lines that wait, or after the line that is being written.
  #ahead(event, severity, fields) {
    const line = Buffer.from(this.#form.finish(this.#report(event, severity, fields)))
    this.#tally.emit(line.length)
    const begun = this.#chunks.length > 0 && this.#chunks[0].at > 0
    this.#chunks.splice(begun ? 1 : 0, 0, new Chunk(line, line.length, [line.length], [severity]))
  }

  // flush writes all lines, and waits for a slow target for at most so many ms, and as long as it takes something. It
  // reports whether nothing is left.
  flush(longest = this.#o.exitTimeout) {
    const began = performance.now()
    let left = this.#tally.waitingBytes
    let progressAt = began
    this.#drain()
    while (this.#chunks.length > 0) {
      const t = performance.now()
      if (this.#chunks[0].at > 0 && left !== this.#left()) {
        left = this.#left()
        progressAt = t
      }
      if (t - began >= longest || t - progressAt >= patience) return false
      sleep(Math.min(this.#delay, roomDelay))
      this.#drain()
    }
    return true
  }

  #left() { return this.#tally.waitingBytes - this.#chunks[0].at + this.#chunks[0].beginOfLine }

  // end writes everything at the end of the process, with the reports that are due.
  end() {
    this.#gaveUp = !this.flush()
    if (this.#gaveUp) return false
    this.#reportGap(0)
    if (this.#totals !== null) this.#reportTotals()
    return this.flush()
  }

  close() {
    if (this.#closed) return this.#chunks.length === 0
    const empty = this.end()
    this.#closed = true
    exit.remove(this)
    clearImmediate(this.#immediate)
    clearTimeout(this.#retry)
    clearTimeout(this.#totals)
    clearTimeout(this.#gapTimer)
    for (const chunk of this.#chunks) this.#abandon(chunk)
    this.#chunks = []
    this.#primary.close()
    this.#fallback?.close()
    return empty
  }

  #abandon(chunk) {
    for (let begin = chunk.beginOfLine; chunk.first < chunk.ends.length; begin = chunk.beginOfLine) {
      const line = chunk.first++
      this.#tally.lose(chunk.severities[line], chunk.ends[line] - begin, 'closed')
    }
  }

  reopen() { this.#primary.reopen() }
  stats() { return this.#tally.snapshot() }
}

// share returns how many bytes may wait after an event of a severity is added.
function share(policy, severity, bytes) {
  if (policy !== 'shed' || severity <= 1) return bytes
  return severity === 2 ? bytes * 7 / 8 : severity === 3 ? bytes * 3 / 4 : bytes / 2
}

module.exports = { Queue, policies }
