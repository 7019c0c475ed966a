// Runs several processes that take from one store.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { compileProgram } from '../../../../test/compile.ts'
import type { Orders, Outcome } from './taker.ts'

const execute = promisify(execFile)

/** The compiled process. */
export interface Takers {
  /** Runs one process for each of the orders, all at once. */
  run(orders: readonly Orders[]): Promise<readonly (readonly Outcome[])[]>
  remove(): void
}

/** Compiles the process that takes. */
export async function compileTakers(): Promise<Takers> {
  const program = await compileProgram('packages/sluice/test/redis/taker.ts')
  return {
    run: (orders) =>
      Promise.all(
        orders.map(async (order) => {
          const { stdout } = await execute(process.execPath, [
            program.script,
            JSON.stringify(order),
          ])
          return JSON.parse(stdout) as Outcome[]
        }),
      ),
    remove: () => program.remove(),
  }
}
