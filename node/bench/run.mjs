// npm run bench: prints the tables of README.md, and a line for each result. --write puts the tables into README.md.
import fs from 'node:fs'
import os from 'node:os'

import { ends, hows, lines } from './ends.mjs'
import { events, peers } from './events.mjs'
import { upload } from './upload.mjs'

const out = []
const results = []

function table(head, rows) {
  out.push('', `| ${head.join(' | ')} |`, `|${head.map((_, i) => i === 0 ? '---' : '---:').join('|')}|`)
  for (const row of rows) out.push(`| ${row.join(' | ')} |`)
}

// result notes a value with the greatest or least value that is wanted, if any.
function result(name, value, { most, least } = {}) {
  const target = most ?? least
  const isMet = most !== undefined ? value <= most : value >= least
  results.push(`RESULT ${name} ratio=${value.toFixed(3)}` + (target === undefined ? '' : ` target=${target} ${isMet ? 'ok' : 'missed'}`))
}

out.push(`Node ${process.versions.node}, pino ${peers.pino}, ${os.cpus()[0].model.trim()}, ${os.cpus().length} processors.`)

const measured = await events()
table(['time of an event in ns, to a file', 'weir-log', 'pino, sync', 'ratio'],
  measured.map((m) => [m.name, Math.round(m.weir), Math.round(m.pino), m.ratio.toFixed(2)]))
for (const m of measured) result(m.result, m.ratio, { most: m.target })

const lost = ends()
table([`lines lost of ${lines.toLocaleString('en')} when the process ends by`, ...hows],
  lost.map(({ name, to, lost }) => [`${name}, ${to}`, ...hows.map((how) => lost[how].toLocaleString('en'))]))
result('node_lines_lost', Math.max(...lost.filter((l) => l.name === 'weir-log').flatMap((l) => Object.values(l.lost))), { most: 0 })

const uploaded = await upload()
table(['uploads of 50,000 rows, a line per row', 'uploads/s', 'peak memory, MiB', 'longest stall, ms', 'lines lost'],
  uploaded.map((u) => [`${u.output}: ${u.name}`, u.rate.toFixed(2), Math.round(u.peak), Math.round(u.stall), u.lost.toLocaleString('en')]))
const rate = (output, name) => uploaded.find((u) => u.output === output && u.name === name).rate
const blocking = 'weir-log, block' // loses no line, like the others
result('node_upload_vs_pino', rate('file', blocking) / rate('file', 'pino'), { least: 1.3 })
result('node_upload_vs_winston_file', rate('file', blocking) / rate('file', 'winston, file'))
result('node_upload_vs_no_logging', rate('file', blocking) / rate('file', 'no logging'), { least: 0.85 })

console.log(out.join('\n').trim() + '\n')
console.log(results.join('\n'))

if (process.argv.includes('--write')) {
  const readme = new URL('../README.md', import.meta.url)
  const text = fs.readFileSync(readme, 'utf8')
  const [begin, end] = ['<!-- npm run bench -- --write -->\n', '<!-- end -->']
  const [before, rest] = text.split(begin)
  fs.writeFileSync(readme, before + begin + out.join('\n').trim() + '\n' + end + rest.split(end)[1])
}
