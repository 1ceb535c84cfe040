'use strict'
// Runs programs, and counts the lines that arrive at the other end of files, pipes and sockets.
const assert = require('node:assert')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { setTimeout: delay } = require('node:timers/promises')

const weir = require('weir-log')

const lines = 20_000
const program = (name) => path.join(__dirname, 'programs', name)

function temporary(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weir-log-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  return path.join(folder, 'log')
}

// run runs a command and returns its stdout, stderr, code and signal. The stdout of Node's children is a socket.
async function run(command, args) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const out = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr']) child[stream].setEncoding('utf8').on('data', (text) => { out[stream] += text })
  const [code, signal] = await once(child, 'close')
  return { ...out, code, signal }
}

// inShell runs a program in a pipeline of the shell. $0 is node, $1 the program and so on.
function inShell(script, ...args) { return run('sh', ['-c', `export WEIR_NODE="$0"; ${script}`, process.execPath, ...args]) }

// checkRows checks that text has the events row 0 to count-1, in order.
function checkRows(text, count) {
  const got = text.split('\n').slice(0, -1).map((line) => JSON.parse(line)).filter((e) => e.event === 'row')
  assert.strictEqual(got.length, count)
  got.forEach((event, i) => assert.strictEqual(event.data.number, i))
}

const eventsOf = (text) => text.split('\n').slice(0, -1).map((line) => JSON.parse(line).event)

const ends = [
  { how: 'return', code: 0 },
  { how: 'exit', code: 3 },
  { how: 'uncaught', code: 1 },
  { how: 'rejection', code: 1 },
  ...['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGUSR2'].map((signal) => ({ how: signal, signal })),
  { how: 'SIGHUP', signal: 'SIGHUP', reopensFiles: true },
  { how: 'handled', code: 4 },
  { how: 'later', code: 0, extra: 1 },
  { how: 'in exit', code: 0, extra: 1 },
  { how: 'in value', code: 3 },
  { how: 'caught', code: 0, extra: 1 }
]

for (const { how, code = null, signal = null, extra = 0, reopensFiles = false } of ends) {
  test(`no line is lost: ${how}`, async (t) => {
    const file = temporary(t)
    const toFile = reopensFiles ? null : run(process.execPath, [program('ends.js'), file, String(lines), how])
    const toSocket = run(process.execPath, [program('ends.js'), 'stdout', String(lines), how])
    // A slow reader: the pipe is full when the program ends.
    const toPipe = inShell('"$0" "$1" stdout "$2" "$3" 2>/dev/null | (sleep 0.3; cat)', program('ends.js'), String(lines), how)
    const ended = await toSocket
    assert.deepStrictEqual([ended.code, ended.signal], [code, signal], ended.stderr)
    checkRows(ended.stdout, lines + extra)
    await toFile
    if (toFile !== null) checkRows(fs.readFileSync(file, 'utf8'), lines + extra)
    checkRows((await toPipe).stdout, lines + extra)
  })
}

test('no line is lost: a logger that is made in a listener for exit', async () => {
  const { stdout } = await inShell(`"$0" -e 'process.on("exit", () => require("weir-log")().info("row", { number: 0 }))' | cat`)
  checkRows(stdout, 1)
})

test('a reader that never reads delays the end of the process, and the loss is on stderr', async (t) => {
  // The reader keeps the pipe open until the process has ended.
  const { stdout: errors } = await inShell('mkfifo "$2"; { { "$0" "$1" stdout 20000 return 2>&3; echo >"$2"; } | read -r _ <"$2"; } 3>&1',
    program('ends.js'), temporary(t))
  const [, lost] = /^weir-log: (\d+) events could not be written before the end of the process\n$/.exec(errors)
  assert.ok(Number(lost) > 19_000 && Number(lost) < 20_000, errors) // the pipe has some
})

test('a listener for SIGTERM that was registered before the logger ends the process itself', async () => {
  const { stdout, code, signal } = await run(process.execPath, [program('signals.js'), 'once before'])
  assert.deepStrictEqual([code, signal], [0, null])
  assert.deepStrictEqual(eventsOf(stdout), ['drains', 'drained'])
})

for (const { how, want } of [
  { how: 'signal-exit', want: ['began', 'is at the end'] },
  { how: 'signal-exit 3', want: ['began', 'is at the end'] },
  { how: 'signal-exit 3 and 4', want: ['began', 'is at the end'] },
  { how: 'copies', want: ['one', 'two'] }
]) {
  test(`SIGTERM ends the process, although others listen for it only to learn that: ${how}`, async () => {
    const { stdout, code, signal } = await run(process.execPath, [program('signals.js'), how])
    assert.deepStrictEqual([code, signal], [null, 'SIGTERM'])
    assert.deepStrictEqual(eventsOf(stdout).sort(), want)
  })
}

test('SIGHUP ends no process in which another copy of the package has a file', async (t) => {
  const file = temporary(t)
  const { stdout, code } = await run(process.execPath, [program('signals.js'), 'copies reopen', file])
  assert.strictEqual(code, 0)
  assert.strictEqual(JSON.parse(stdout).data.listeners, 2)
  assert.deepStrictEqual(eventsOf(fs.readFileSync(file, 'utf8')), ['goes on'])
})

for (const how of ['threads', 'cluster']) {
  test(`lines of ${how} are whole`, async () => {
    const { stdout } = await inShell('"$0" "$1" "$2" 4 5000 | cat', program('worker.js'), how)
    const seen = [0, 0, 0, 0]
    for (const line of stdout.split('\n').slice(0, -1)) {
      const { worker, number } = JSON.parse(line).data
      assert.strictEqual(number, seen[worker]++)
    }
    assert.deepStrictEqual(seen, [5000, 5000, 5000, 5000])
  })
}

for (const { environment, want } of [
  { environment: 'TERM=xterm NO_COLOR=', want: /^\d\d:\d\d:\d\d\.\d{3} \x1b\[32mINFO\x1b\[0m {2}row \x1b\[2mnumber=\x1b\[0m7\r\n$/ },
  { environment: 'TERM=dumb NO_COLOR=', want: /^\d\d:\d\d:\d\d\.\d{3} INFO  row number=7\r\n$/ },
  { environment: 'TERM=xterm NO_COLOR=1', want: /^\d\d:\d\d:\d\d\.\d{3} INFO  row number=7\r\n$/ }
]) {
  test(`a terminal gets the human format: ${environment}`, async () => {
    const program = '"$WEIR_NODE" -e "require(\\"weir-log\\")().info(\\"row\\", { number: 7 })"'
    const { stdout } = await inShell(`${environment} script -qec '${program}' /dev/null`)
    assert.match(stdout, want)
  })
}

test('stderr gets the lines when the reader of stdout has gone', async () => {
  const { stdout, stderr } = await inShell('"$0" "$1" stdout 20000 later | head -n 1', program('ends.js'))
  assert.strictEqual(JSON.parse(stdout).data.number, 0)
  const numbers = stderr.split('\n').slice(0, -1).map((line) => JSON.parse(line).data.number)
  assert.ok(numbers.length > 10_000, `${numbers.length} lines`)
  assert.strictEqual(numbers.at(-1), 20_000)
  numbers.forEach((number, i) => assert.strictEqual(number, numbers[0] + i)) // no gap and no line twice
})

test('a file is opened again after SIGHUP, and after it was renamed', async (t) => {
  const file = temporary(t)
  const log = weir({ to: file, format: 'json' })
  t.after(() => log.close())
  log.info('one')
  log.flush()
  fs.renameSync(file, file + '.1')
  process.kill(process.pid, 'SIGHUP')
  await Promise.all([once(process, 'SIGHUP'), delay(100)]) // a listener for a signal does not keep the process
  log.info('two')
  log.flush()
  fs.renameSync(file, file + '.2')
  await delay(1050) // it is checked once a second
  log.info('three')
  log.flush()
  const event = (name) => JSON.parse(fs.readFileSync(name, 'utf8')).event
  assert.deepStrictEqual([event(file + '.1'), event(file + '.2'), event(file)], ['one', 'two', 'three'])
})

test('loggers that are closed leave no listener', (t) => {
  const file = temporary(t)
  const counts = () => ['SIGHUP', 'SIGTERM', 'SIGINT', 'exit'].map((name) => process.listenerCount(name))
  const before = counts()
  const logs = Array.from({ length: 20 }, () => weir({ to: file, format: 'json' }))
  for (const [i, count] of counts().entries()) assert.ok(count <= before[i] + 1)
  for (const log of logs) log.close()
  assert.deepStrictEqual(counts(), before)
})

test('the reader of a named pipe may pause: the program goes on', async (t) => {
  const pipe = temporary(t)
  const { code } = await run('mkfifo', [pipe])
  assert.strictEqual(code, 0)
  assert.throws(() => weir({ to: pipe }), { code: 'ENXIO' }) // without a reader
  const script = '(exec 3<"$2"; sleep 2; cat <&3) & until "$0" "$1" "$2" 20000 stall; do sleep 0.1; done; wait'
  const { stdout, stderr } = await inShell(script, program('ends.js'), pipe)
  const stall = Number(/^stalled for (\d+) ms$/m.exec(stderr)[1])
  assert.ok(stall < 1000, `${stall} ms`)
  checkRows(stdout, lines)
})

test('close ends a file; later events are counted as dropped', (t) => {
  const file = temporary(t)
  const log = weir({ to: file, format: 'json' })
  log.info('one')
  assert.strictEqual(log.close(), true)
  log.info('two')
  assert.deepStrictEqual(log.stats().losses, { info: { closed: 1 } })
  assert.strictEqual(fs.readFileSync(file, 'utf8').split('\n').length, 2)
})

test('a full disk does not stop the program; it keeps the lines and names the error', { skip: !fs.existsSync('/dev/full') }, () => {
  const log = weir({ to: '/dev/full', format: 'json', queue: { exitTimeout: 50 } })
  for (let i = 0; i < 100; i++) log.info('row')
  assert.strictEqual(log.flush(), false)
  const stats = log.stats()
  assert.strictEqual(stats.waiting, 100)
  assert.strictEqual(stats.lastError.code, 'ENOSPC')
  assert.strictEqual(log.close(), false)
  assert.deepStrictEqual(log.stats().losses, { info: { closed: 100 } })
})

test('fatal and a batch of 0 write before they return', (t) => {
  const file = temporary(t)
  const log = weir({ to: file, format: 'json' })
  t.after(() => log.close())
  log.info('one')
  log.fatal('two')
  assert.strictEqual(fs.readFileSync(file, 'utf8').split('\n').length, 3)
  const direct = weir({ to: file, format: 'json', queue: { batch: 0 } })
  t.after(() => direct.close())
  direct.info('three')
  assert.strictEqual(fs.readFileSync(file, 'utf8').split('\n').length, 4)
})
