// Clients on gRPC's C core, in one Python process: it takes a second to start.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { findPythonGrpc } from '../../../../scripts/test-programs.mjs'
import type { Client } from './client.ts'
import { decode, encode } from './raw-client.ts'

const script = fileURLToPath(new URL('./python_client.py', import.meta.url))

/** A Python process. */
export interface Python {
  /** A client of `host:port`; its questions must not overlap with those of another client. */
  client(target: string): Client
  close(): Promise<void>
}

/** Starts the process. */
export function startPython(): Python {
  const command = findPythonGrpc()
  if (command === undefined) throw new Error('there is no Python with grpcio; npm test installs it')
  const python = spawn(command, [script], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: python.stdout })[Symbol.asyncIterator]()
  return {
    client: (target) => ({
      name: 'grpcio on the C core',
      async ask(question) {
        python.stdin.write(`${target} ${encode(question).toString('hex')}\n`)
        const [status = '', answer = ''] = String((await lines.next()).value).split(' ')
        if (status !== '0') return { status: Number(status) }
        return { status: 0, ...decode(Buffer.from(answer, 'hex')) }
      },
      close: async () => void python.stdin.write(`${target}\n`),
    }),
    async close() {
      python.stdin.end()
      await once(python, 'exit')
    },
  }
}
