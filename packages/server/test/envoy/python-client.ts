// A client on gRPC's C core, in a Python process of its own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { findPythonGrpc } from '../../../../scripts/test-programs.mjs'
import type { Client } from './client.ts'
import { decode, encode } from './raw-client.ts'

const script = fileURLToPath(new URL('./python_client.py', import.meta.url))

/** Starts a client of `host:port`. */
export async function pythonClient(target: string): Promise<Client> {
  const command = findPythonGrpc()
  if (command === undefined) throw new Error('there is no Python with grpcio; npm test installs it')
  const python = spawn(command, [script, target], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: python.stdout })[Symbol.asyncIterator]()
  return {
    name: 'grpcio on the C core',
    async ask(question) {
      python.stdin.write(`${encode(question).toString('hex')}\n`)
      const [status = '', answer = ''] = String((await lines.next()).value).split(' ')
      if (status !== '0') return { status: Number(status) }
      return { status: 0, ...decode(Buffer.from(answer, 'hex')) }
    },
    async close() {
      python.stdin.end()
      await once(python, 'exit')
    },
  }
}
