'use strict'
const assert = require('node:assert')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')

const { loggers } = require('./loggers.js')
const { Rows } = require('./rows.js')

// rowsOf parses text in pieces of n bytes.
function rowsOf(text, n) {
  const bytes = Buffer.from(text)
  const rows = new Rows()
  const got = []
  for (let i = 0; i < bytes.length; i += n) rows.add(bytes.subarray(i, i + n), (row) => got.push(row))
  rows.end((row) => got.push(row))
  return got
}

test('rows are the same in pieces of any size', () => {
  for (const [text, want] of [
    ['', []],
    ['a,b\n1,2\n', ['a,b', '1,2']],
    ['a,b\r\n1,2', ['a,b', '1,2']],
    ['a\n"x\ny"\n"he said ""no""\n"\nz\n', ['a', '"x\ny"', '"he said ""no""\n"', 'z']],
    ['ü,ß\n\n', ['ü,ß', '']]
  ]) {
    for (let n = 1; n <= text.length + 1; n++) assert.deepStrictEqual(rowsOf(text, n), want, `${JSON.stringify(text)} by ${n}`)
  }
})

// freePort returns a port below the range of ephemeral ports, so that no connection takes it before the server does.
async function freePort() {
  for (;;) {
    const server = net.createServer()
    const listening = new Promise((resolve) => server.once('listening', () => resolve(true)).once('error', () => resolve(false)))
    const port = 10_000 + Math.floor(20_000 * Math.random())
    server.listen(port, '127.0.0.1')
    if (!await listening) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

const patience = 120_000 // ms, for a machine that other tests use too

// served starts the server, uploads, ends it, and returns its output and measures.
async function served(name, uploads) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weir-csv-'))
  const measures = path.join(folder, 'measures.json')
  const port = await freePort()
  const child = spawn(process.execPath, [path.join(__dirname, 'csv.js'), '--port', `${port}`, '--folder', folder, name], {
    env: { ...process.env, WEIR_LAB_MEASURES: measures },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const ended = once(child, 'close')
  const giveUp = setTimeout(() => child.kill('SIGKILL'), patience)
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (piece) => { text += piece })
  try {
    await ready(child, `http://127.0.0.1:${port}/healthz`)
    const answers = []
    for (const body of uploads) answers.push(await (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })).text())
    child.kill('SIGTERM')
    const [code] = await ended
    assert.strictEqual(code, 0, `${name} ended with ${code}`)
    const values = {}
    for (const m of JSON.parse(fs.readFileSync(measures, 'utf8'))) values[m.name] = m.value
    return { answers, values, lines: text.split('\n').slice(0, -1) }
  } finally {
    clearTimeout(giveUp)
    child.kill('SIGKILL')
    fs.rmSync(folder, { recursive: true })
  }
}

async function ready(child, url) {
  for (const until = Date.now() + patience; ;) {
    try {
      return await (await fetch(url)).text()
    } catch (error) {
      if (Date.now() > until || child.exitCode !== null) throw error
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}

// 3,000 rows of about 50 bytes are two chunks and a part of a third.
const upload = 'id,text\n' + Array.from({ length: 3000 }, (_, i) => `${i},"${'x'.repeat(40)}"\n`).join('')
const callsOf = 3000 + Math.ceil(upload.length / 65536)

const installed = fs.existsSync(path.join(__dirname, 'node_modules'))

for (const [name, lines] of [['none', 0], ['format', 0], ['console', 2 * callsOf], ['proxy', 2 * callsOf],
  ['winston-console', 2 * callsOf], ['winston-file', 0], ['pino', 2 * callsOf], ['weir', 2 * callsOf]]) {
  const lacking = !installed && /winston|pino|weir/.test(name) && 'npm ci has not been run here'
  test(`${name} logs every row and chunk`, { skip: lacking }, async () => {
    const got = await served(name, [upload, upload])
    assert.deepStrictEqual(got.answers, ['3000 rows\n', '3000 rows\n'])
    assert.strictEqual(got.lines.length, lines)
    assert.strictEqual(got.values['log calls'], 2 * callsOf)
    assert.strictEqual(got.values['log lines emitted'], lines)
    for (const line of got.lines) {
      const event = JSON.parse(line)
      assert.ok((event.event ?? event.message) && (event.data ?? event).number >= 0 && (event.time ?? event.timestamp ?? event.created_at), line)
    }
    if (name === 'winston-file') assert.strictEqual(got.values['log lines missing in its file'], 0)
  })
}

// There are more lines than winston's streams hold, so most are still in the logger when it is closed.
test('winston-file has every line when it is closed', { skip: !installed && 'npm ci has not been run here' }, async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weir-csv-'))
  try {
    const logger = loggers['winston-file'](folder)
    const lines = 5000
    for (let i = 0; i < lines; i++) logger.log('row', { number: i, text: 'x'.repeat(40) })
    await new Promise((resolve) => logger.close(resolve))
    assert.strictEqual(fs.readFileSync(logger.file, 'utf8').split('\n').length - 1, lines)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
})
