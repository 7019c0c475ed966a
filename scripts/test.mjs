// `npm test`: prepares what the tests need, runs vitest and ends with `N passed, N failed` on the last line.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from './build.mjs'
import { ensureDeployTools } from './deploy-tools.mjs'
import { ensureGrpcClients } from './grpc-clients.mjs'
import { ensureInstalled } from './install.mjs'
import { ensurePromtool } from './promtool.mjs'
import { ensureProxies } from './proxies.mjs'
import { ensureRedisServer } from './redis-server.mjs'
import { run, tool } from './run.mjs'
import { countResults } from './test-counts.mjs'

await ensureInstalled()
await ensureRedisServer()
await ensurePromtool()
await ensureProxies()
await ensureDeployTools()
await ensureGrpcClients()
// A broken build is one failure among others: the tests of the sources still run.
const built = await build()

const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'))
const report = join(folder, 'report.json')
const code = await run(tool('vitest'), [
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
  ...process.argv.slice(2),
])
const { passed, failed } = countResults(readReport(), { build: built, tests: code })
rmSync(folder, { recursive: true, force: true })

console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0

/** The JSON report, or an empty one when vitest ended before it could write it. */
function readReport() {
  try {
    return JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    return { testResults: [] }
  }
}
