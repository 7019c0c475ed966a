// Makes sure that the gRPC tests have others to talk to: a client on gRPC's C core, proxies, certificates.
import { spawnSync } from 'node:child_process'
import { ensureProgram, onPath } from './debian.mjs'
import { run } from './run.mjs'

const pythons = ['python3', '/usr/bin/python3']

/** A Python that has grpcio, or undefined. */
export function findPythonGrpc() {
  return pythons.find((python) => spawnSync(python, ['-c', 'import grpc']).status === 0)
}

/** Ends the process with one sentence when something is missing and cannot be installed. */
export async function ensureGrpcClients() {
  if (findPythonGrpc() === undefined && process.getuid?.() === 0 && onPath('apt-get')) {
    console.log('Installing python3-grpcio (apt-get) ...')
    const env = { DEBIAN_FRONTEND: 'noninteractive' }
    const args = ['install', '-y', '-qq', '--no-install-recommends', 'python3-grpcio']
    await run('apt-get', ['update', '-qq'], { env })
    await run('apt-get', args, { env })
  }
  const missing = [
    ...(findPythonGrpc() === undefined ? ['python3-grpcio'] : []),
    ...((await ensureProgram('nginx', ['nginx'])) ? [] : ['nginx']),
    ...((await ensureProgram('haproxy', ['haproxy'])) ? [] : ['haproxy']),
    ...((await ensureProgram('openssl', ['openssl'])) ? [] : ['openssl']),
  ]
  if (missing.length === 0) return
  console.error(
    `The gRPC tests need ${missing.join(', ')} (Debian: apt-get install ${missing.join(' ')}).`,
  )
  process.exit(1)
}
