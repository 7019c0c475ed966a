// Checks the packages as users get them: packs each and runs publint and, where it has types, attw on the tarball.
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, run, tool } from './run.mjs'

/** The packages, and whether somebody imports them. */
const packages = /** @type {const} */ ([
  ['sluice', true],
  ['server', true],
  ['nest', true],
  ['cli', false],
])

for (const [name, isImported] of packages) {
  const folder = `${root}packages/${name}`
  if (!existsSync(`${folder}/tsconfig.json`)) continue
  console.log(`packages/${name}`)
  process.exitCode = (await check(folder, isImported)) || (process.exitCode ?? 0)
}

/** @param {string} folder @param {boolean} isImported */
async function check(folder, isImported) {
  const scratch = mkdtempSync(join(tmpdir(), 'sluice-pack-'))
  try {
    const args = ['pack', '--silent', '--pack-destination', scratch]
    const packed = await run('npm', args, { cwd: folder })
    if (packed !== 0) return packed
    const tarball = join(scratch, readdirSync(scratch)[0] ?? 'no-tarball')
    const publint = await run(tool('publint'), ['run', tarball, '--strict'])
    if (!isImported) return publint
    const options = ['--profile', 'esm-only', '--no-emoji', '--format', 'table-flipped']
    return publint || (await run(tool('attw'), [tarball, ...options]))
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
