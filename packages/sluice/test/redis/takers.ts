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

/** A compiled process. */
export interface CompiledScript {
  readonly path: string
  remove(): void
}

/** Compiles a file of this folder into a folder from which it finds its client. */
export async function compileScript(name: string): Promise<CompiledScript> {
  const cache = join(root, 'node_modules/.cache/sluice')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, `${name}-`))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const options = [...compilerOptions.split(' '), '--rootDir', root, '--outDir', folder]
  const source = join(root, `packages/sluice/test/redis/${name}.ts`)
  await execute(join(root, 'node_modules/.bin/tsc'), [...options, source])
  return {
    path: join(folder, `packages/sluice/test/redis/${name}.js`),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Compiles the process that takes. */
export async function compileTakers(): Promise<Takers> {
  const script = await compileScript('taker')
  return {
    run: (orders) =>
      Promise.all(
        orders.map(async (order) => {
          const { stdout } = await execute(process.execPath, [script.path, JSON.stringify(order)])
          return JSON.parse(stdout) as Outcome[]
        }),
      ),
    remove: () => script.remove(),
  }
}
