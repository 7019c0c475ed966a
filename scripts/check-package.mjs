// Checks the packages as users get them: packs each and runs publint and, where it has types, attw on the tarball.
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, run, tool } from './run.mjs'

/** The packages, and the profile of attw: `strict` for ESM, CommonJS and the old resolution; `esm-only`; none for a command. */
const packages = /** @type {const} */ ([
  ['sluice', 'strict'],
  ['server', 'esm-only'],
  ['nest', 'strict'],
  ['cli', undefined],
])

for (const [name, profile] of packages) {
  const folder = `${root}packages/${name}`
  if (!existsSync(`${folder}/tsconfig.json`)) continue
  console.log(`packages/${name}`)
  process.exitCode = (await check(folder, profile)) || (process.exitCode ?? 0)
}

/** @param {string} folder @param {'strict' | 'esm-only' | undefined} profile */
async function check(folder, profile) {
  const scratch = mkdtempSync(join(tmpdir(), 'sluice-pack-'))
  try {
    const args = ['pack', '--silent', '--pack-destination', scratch]
    const packed = await run('npm', args, { cwd: folder })
    if (packed !== 0) return packed
    const tarball = join(scratch, readdirSync(scratch)[0] ?? 'no-tarball')
    const publint = await run(tool('publint'), ['run', tarball, '--strict'])
    if (profile === undefined) return publint
    const options = ['--profile', profile, '--no-emoji', '--format', 'table-flipped']
    return publint || (await run(tool('attw'), [tarball, ...options]))
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
