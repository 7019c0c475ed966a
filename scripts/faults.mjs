// `npm run faults`: compiles the fault lab and runs its scenarios at full length; words choose those whose names contain them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureInstalled } from './install.mjs'
import { root, run, tool } from './run.mjs'
import { ensurePrograms } from './test-programs.mjs'

await ensureInstalled()
const missing = await ensurePrograms(['redis-server', 'cc'])
for (const sentence of missing) console.error(sentence)
if (missing.length > 0) process.exit(1)
const cache = join(root, 'node_modules/.cache/sluice')
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, 'faults-'))
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
const options =
  '--ignoreConfig --noCheck --allowJs --module nodenext --target es2023 --rewriteRelativeImportExtensions'
try {
  const source = join(root, 'test/faults/run.ts')
  const compiled = await run(tool('tsc'), [
    ...options.split(' '),
    '--rootDir',
    root,
    '--outDir',
    folder,
    source,
  ])
  const env = { SLUICE_ROOT: root }
  const script = join(folder, 'test/faults/run.js')
  process.exitCode =
    compiled || (await run(process.execPath, [script, ...process.argv.slice(2)], { env }))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
