// Checks the package as users get it: packs packages/sluice and runs publint and attw on the tarball.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, run, tool } from './run.mjs'

const folder = mkdtempSync(join(tmpdir(), 'sluice-pack-'))
const packed = await run('npm', ['pack', '--silent', '--pack-destination', folder], {
  cwd: `${root}packages/sluice`,
})
const tarball = join(folder, readdirSync(folder)[0] ?? 'no-tarball')
const publint = packed || (await run(tool('publint'), ['run', tarball, '--strict']))
const attw =
  packed ||
  (await run(tool('attw'), [
    tarball,
    '--profile',
    'esm-only',
    '--no-emoji',
    '--format',
    'table-flipped',
  ]))
rmSync(folder, { recursive: true, force: true })
process.exitCode = packed || publint || attw
