// The speed of `sluice replay` beside GoAccess on the same log: `npm run bench:lab -- [--lines 10000000] [--goaccess-lines n]`.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { machine } from '../lib/machine.mjs'
import { figure, markdownTable } from '../lib/table.mjs'
import { generate } from './generate.mjs'

const { values: options } = parseArgs({
  options: {
    lines: { type: 'string', default: '10000000' },
    // GoAccess is many times slower; both read a part of the log, the same file, to be compared.
    'goaccess-lines': { type: 'string', default: '500000' },
    json: { type: 'string' },
  },
})
const lines = Number(options.lines)
const goaccessLines = Math.min(lines, Number(options['goaccess-lines']))
const command = fileURLToPath(new URL('../../packages/cli/bin/sluice.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-lab-'))
const progress = (/** @type {string} */ line) => void process.stderr.write(`${line}\n`)

/** @typedef {{ name: string, lines: number, cpu: number, wall: number, memory: number }} Measured */

try {
  progress(`writing ${figure(lines)} lines`)
  const log = join(folder, 'access.log')
  const tenth = join(folder, 'tenth.log')
  const part = join(folder, 'part.log')
  generate(log, lines)
  generate(tenth, Math.ceil(lines / 10))
  generate(part, goaccessLines)
  /** @type {Measured[]} */
  const rows = []
  const one = ['replay', log, '--try', '60/min', '--json']
  rows.push(await measure('sluice replay, 1 limit', lines, process.execPath, [command, ...one]))
  const three = ['replay', log, '--try', '10/min,30/min,60/min']
  rows.push(await measure('sluice replay, 3 limits', lines, process.execPath, [command, ...three]))
  const small = ['replay', tenth, '--try', '60/min']
  rows.push(
    await measure('sluice replay, a tenth', lines / 10, process.execPath, [command, ...small]),
  )
  // The same file as GoAccess reads, one after the other and twice, so that neither has the quieter moment.
  const onPart = ['replay', part, '--try', '60/min']
  const ofSluice = () =>
    measure('sluice replay, the part', goaccessLines, process.execPath, [command, ...onPart])
  rows.push(await ofSluice())
  if (spawnSync('goaccess', ['--version']).status === 0) {
    const args = [part, '--log-format=COMBINED', '--no-progress', '-o', join(folder, 'out.json')]
    const ofGoaccess = () => measure('goaccess, the part', goaccessLines, 'goaccess', args)
    rows.push(await ofGoaccess(), await ofSluice(), await ofGoaccess())
  } else progress('goaccess is not installed: apt-get install goaccess')

  const file = options.json ?? fileURLToPath(new URL('../results/lab.json', import.meta.url))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify({ machine: machine(), rows }, null, 2)}\n`)
  console.log(
    markdownTable(
      ['', 'lines', 'CPU s', 'wall s', 'lines per CPU s', 'peak MB'],
      rows.map(({ name, lines, cpu, wall, memory }) => [
        name,
        figure(lines),
        figure(cpu),
        figure(wall),
        figure(lines / cpu),
        figure(memory / 1e6),
      ]),
    ),
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/**
 * Runs a program and reads its CPU time and peak memory, as the kernel counted them.
 * @param {string} name
 * @param {number} lines
 * @param {string} program
 * @param {readonly string[]} args
 * @returns {Promise<Measured>}
 */
async function measure(name, lines, program, args) {
  progress(`measuring ${name}`)
  const report = join(folder, 'time.txt')
  const timer = existsSync('/usr/bin/time') ? '/usr/bin/time' : undefined
  if (timer === undefined) throw new Error('/usr/bin/time is not installed: apt-get install time')
  const started = performance.now()
  const child = spawn(timer, ['-f', '%U %S %M', '-o', report, program, ...args], {
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  if (code !== 0) throw new Error(`${name}: exit code ${String(code)}`)
  const wall = (performance.now() - started) / 1000
  const [user = 0, system = 0, kilobytes = 0] = readFileSync(report, 'utf8')
    .split(/\s+/)
    .map(Number)
  return { name, lines, cpu: user + system, wall, memory: kilobytes * 1024 }
}
