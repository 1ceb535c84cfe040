// Lines that are lost of 20,000 when a process ends in several ways.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const lines = 20_000

const program = fileURLToPath(new URL('ends-program.cjs', import.meta.url))
export const hows = ['return', 'process.exit', 'uncaught', 'rejection', 'SIGTERM']

const loggers = [
  { name: 'weir-log', logger: 'weir', to: 'file' },
  { name: 'weir-log', logger: 'weir', to: 'pipe' },
  { name: 'pino', logger: 'pino', to: 'file' },
  { name: 'pino', logger: 'pino', to: 'pipe' },
  { name: 'winston', logger: 'winston-file', to: 'file' },
  { name: 'winston', logger: 'winston-console', to: 'pipe' },
  { name: 'console.log', logger: 'console', to: 'pipe' }
]

// ends returns the lost lines of each logger for each way to end.
export function ends() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weir-bench-'))
  const results = loggers.map(({ name, logger, to }) => {
    const lost = {}
    for (const how of hows) {
      const file = path.join(folder, 'log')
      fs.rmSync(file, { force: true })
      fs.writeFileSync(file, '')
      // The reader of the pipe begins late, so that the pipe is full.
      const script = to === 'pipe' ? '"$0" "$1" "$2" stdout "$3" "$4" 2>/dev/null | (sleep 0.3; cat > "$5")' : '"$0" "$1" "$2" "$5" "$3" "$4" 2>/dev/null'
      spawnSync('sh', ['-c', script, process.execPath, program, logger, String(lines), how, file])
      lost[how] = lines - (fs.readFileSync(file, 'latin1').split('\n').length - 1)
    }
    return { name, to, lost }
  })
  fs.rmSync(folder, { recursive: true })
  return results
}
