'use strict'
// Packs the package, installs it as a user does, and loads and compiles programs that use it.
const assert = require('node:assert')
const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after, test } = require('node:test')

const root = path.join(__dirname, '..')
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weir-log-'))
after(() => fs.rmSync(folder, { recursive: true }))

const [packed] = JSON.parse(execFileSync('npm', ['pack', '--json', '--pack-destination', folder, '--loglevel=error'], { cwd: root, encoding: 'utf8' }))
const modules = path.join(folder, 'node_modules')
fs.mkdirSync(path.join(modules, 'weir-log'), { recursive: true })
execFileSync('tar', ['xzf', path.join(folder, packed.filename), '-C', path.join(modules, 'weir-log'), '--strip-components=1'])
fs.writeFileSync(path.join(folder, 'package.json'), '{}')

test('the package has only its code, types, README and licence', () => {
  const files = packed.files.map((file) => file.path)
  const others = files.filter((file) => !file.startsWith('src/')).sort()
  assert.deepStrictEqual(others, ['LICENSE', 'README.md', 'index.d.mts', 'index.d.ts', 'index.mjs', 'package.json'])
  assert.deepStrictEqual(files.filter((file) => file.startsWith('src/')).sort(), fs.readdirSync(path.join(root, 'src')).map((f) => 'src/' + f).sort())
  const { dependencies, scripts } = JSON.parse(fs.readFileSync(path.join(modules, 'weir-log/package.json'), 'utf8'))
  assert.strictEqual(dependencies, undefined)
  assert.strictEqual(scripts.postinstall ?? scripts.install ?? scripts.preinstall, undefined)
})

for (const [system, name, program] of [
  ['CommonJS', 'use.cjs', "const weir = require('weir-log'); weir({ namespace: 'a', format: 'json' }).info('loaded', { weir: typeof weir.middleware })"],
  ['ESM', 'use.mjs', "import weir from 'weir-log'; weir({ namespace: 'a', format: 'json' }).info('loaded', { weir: typeof weir.middleware })"]
]) {
  test(`${system} loads it, without any other package`, () => {
    fs.writeFileSync(path.join(folder, name), program)
    const line = execFileSync(process.execPath, [path.join(folder, name)], { encoding: 'utf8' })
    assert.deepStrictEqual(JSON.parse(line).data, { weir: 'function' })
  })
}

test('tsc compiles users of both module systems in strict mode', () => {
  for (const name of ['@types', 'express', 'fastify', 'pino', 'winston']) {
    fs.symlinkSync(path.join(root, 'node_modules', name), path.join(modules, name))
  }
  for (const name of ['use.mts', 'use.cts']) fs.copyFileSync(path.join(__dirname, 'types', name), path.join(folder, name))
  fs.writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({
    compilerOptions: { strict: true, noEmit: true, module: 'nodenext', target: 'es2022', types: ['node'], skipLibCheck: false, exactOptionalPropertyTypes: true },
    include: ['use.mts', 'use.cts']
  }))
  const { stdout } = spawnSync(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { encoding: 'utf8' })
  assert.strictEqual(stdout, '')
})

// The types are written by hand: each name in them is one of the code, and the other way round.
test('the types have the names of the code', () => {
  const types = fs.readFileSync(path.join(root, 'index.d.ts'), 'utf8')
  const weir = require('weir-log')
  const functions = [...types.matchAll(/^ {2}function (\w+)/gm)].map(([, name]) => name).sort()
  assert.deepStrictEqual(functions, Object.keys(weir).sort())
  const methods = [...types.split('interface Methods')[1].split('\n  }')[0].matchAll(/^ {4}(\w+)\(/gm)].map(([, name]) => name).sort()
  const prototype = Object.getPrototypeOf(Object.getPrototypeOf(weir({ to: { write() {} } })))
  const levels = ['fatal', 'error', 'warn', 'info', 'debug']
  assert.deepStrictEqual(methods, Object.getOwnPropertyNames(prototype).filter((name) => ![...levels, 'constructor'].includes(name)).sort())
})
