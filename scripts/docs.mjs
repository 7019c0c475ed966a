// `npm run docs` shows the documentation site while it is edited; `npm run docs:build` builds it into site/dist.
import { existsSync, statSync } from 'node:fs'
import { build } from './build.mjs'
import { ensureInstalled } from './install.mjs'
import { root, run } from './run.mjs'

const site = `${root}site/`
await ensureInstalled()
const installedAt = statSync(`${site}node_modules/.package-lock.json`, { throwIfNoEntry: false })
const wantedAt = statSync(`${site}package-lock.json`).mtimeMs
const steps = [
  // Pictures run the built library.
  () => build({ onlyChanged: true }),
  () =>
    existsSync(`${site}node_modules/.bin/vitepress`) && (installedAt?.mtimeMs ?? 0) >= wantedAt
      ? 0
      : run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: site }),
  () => run(process.execPath, [`${site}generate.mjs`]),
  () => run(`${site}node_modules/.bin/vitepress`, [process.argv[2] ?? 'dev', site]),
]
for (const step of steps) {
  process.exitCode = await step()
  if (process.exitCode !== 0) break
}
