// Runs several processes that take from one store.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Orders, Outcome } from './taker.ts'

const execute = promisify(execFile)
const root = fileURLToPath(new URL('../../../..', import.meta.url))
const compilerOptions =
  '--ignoreConfig --noCheck --module nodenext --target es2023 --rewriteRelativeImportExtensions'

/** The compiled process. */
export interface Takers {
  /** Runs one process for each of the orders, all at once. */
  run(orders: readonly Orders[]): Promise<readonly (readonly Outcome[])[]>
  remove(): void
}

/** Compiles the process into a folder from which it finds its client. */
export async function compileTakers(): Promise<Takers> {
  const cache = join(root, 'node_modules/.cache/sluice')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'takers-'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const options = [...compilerOptions.split(' '), '--rootDir', root, '--outDir', folder]
  const source = join(root, 'packages/sluice/test/redis/taker.ts')
  await execute(join(root, 'node_modules/.bin/tsc'), [...options, source])
  const script = join(folder, 'packages/sluice/test/redis/taker.js')
  return {
    run: (orders) =>
      Promise.all(
        orders.map(async (order) => {
          const { stdout } = await execute(process.execPath, [script, JSON.stringify(order)])
          return JSON.parse(stdout) as Outcome[]
        }),
      ),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
