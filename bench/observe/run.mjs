// What all observers of the service cost a check in memory: CPU time per check, with and without them, in turns.
// node bench/observe/run.mjs [rounds]
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { lowerQuartile, pairedRatio } from '../lib/statistics.mjs'
import { markdownTable } from '../lib/table.mjs'

const CONTENDERS = ['none', 'empty', 'all']
const SHARES = ['allowed', 'refused']
const rounds = Number(process.argv[2] ?? 15)
const cell = new URL('cell.mjs', import.meta.url)

const rows = []
for (const share of SHARES) {
  const children = await Promise.all(
    CONTENDERS.map(async (contender) => {
      const child = fork(cell, [contender, share])
      await once(child, 'message')
      return { contender, child, nanos: /** @type {number[]} */ ([]) }
    }),
  )
  for (let round = 0; round < rounds; round++) {
    for (const { child, nanos } of children) {
      child.send('slice')
      const [answer] = await once(child, 'message')
      nanos.push(answer.nanos)
    }
  }
  const [base] = children
  for (const { contender, child, nanos } of children) {
    const ratio = pairedRatio(nanos, base?.nanos ?? nanos)
    const cost = `${((ratio - 1) * 100).toFixed(1)} %`
    rows.push([share, contender, lowerQuartile(nanos).toFixed(0), cost])
    child.disconnect()
    child.kill()
  }
}
process.stdout.write(
  `${markdownTable(['traffic', 'observers', 'ns of CPU per check (lower quartile)', 'above none (median of rounds)'], rows)}\n`,
)
