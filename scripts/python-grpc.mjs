// Makes sure that the gRPC tests have a client on the C core: a Python that has grpcio, or Debian's package of it.
import { spawnSync } from 'node:child_process'
import { run } from './run.mjs'

const pythons = ['python3', '/usr/bin/python3']

/** The Python to run clients with. Throws one sentence when there is none and none can be installed. */
export async function ensurePythonGrpc() {
  const found = find()
  if (found) return found
  if (process.getuid?.() === 0) {
    const env = { DEBIAN_FRONTEND: 'noninteractive' }
    await run('apt-get', ['update', '-qq'], { env })
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'python3-grpcio'], {
      env,
    })
  }
  const installed = find()
  if (installed) return installed
  throw new Error(
    'The gRPC tests need a Python with grpcio (Debian: apt-get install python3-grpcio; else: pip install grpcio).',
  )
}

function find() {
  return pythons.find((python) => spawnSync(python, ['-c', 'import grpc']).status === 0)
}
