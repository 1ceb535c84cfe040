'use strict'
// Installs winston and pino beside this file, at the versions in package-lock.json. If it fails, it prints what is
// missing.

const { spawnSync } = require('node:child_process')

const oldest = 20

if (Number(process.versions.node.split('.')[0]) < oldest) {
  fail(`this is Node ${process.versions.node}, and the loggers that are compared need ${oldest} or later`)
}
const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'], {
  cwd: __dirname,
  stdio: 'inherit'
})
if (npm.error !== undefined) fail(`npm cannot be run (${npm.error.message}): install it beside Node`)
if (npm.status !== 0) fail('npm could not install winston and pino: it needs its registry, or a cache that has them')

function fail(message) {
  console.error(`csv-node: ${message}`)
  process.exit(1)
}
