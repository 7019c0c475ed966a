// Stores that cannot be reached: refused, killed, stopped.
import { onServer, throughProxy } from '../places.ts'
import { QUOTA, type Scenario } from '../scenario.ts'

const kept = { args: ['--appendonly', 'yes'] }
const refuse = throughProxy(
  async ({ proxy }, { begin, back, last, pods }) => {
    begin()
    for (const pod of pods) pod.load()
    await last()
    await proxy.accept()
    back()
  },
  (proxy) => proxy.refuse(),
)

export const unreachable: readonly Scenario[] = [
  {
    name: 'refused at start, 5 s',
    length: { test: 2000, full: 5000 },
    open: refuse,
    isCold: true,
    bounds: {},
  },
  {
    name: 'refused at start, 10 s',
    length: { test: 5000, full: 10_000 },
    open: refuse,
    isCold: true,
    bounds: {},
  },
  {
    name: 'stopped (SIGSTOP) at start, 5 s',
    length: { test: 2000, full: 5000 },
    open: onServer(
      async (server, { begin, back, last, pods }) => {
        begin()
        for (const pod of pods) pod.load()
        await last()
        server.kill('SIGCONT')
        back()
      },
      {},
      (server) => server.kill('SIGSTOP'),
    ),
    isCold: true,
    bounds: {},
  },
  {
    name: 'killed, restarted with its data',
    length: { test: 2000, full: 5000 },
    open: onServer(async (server, { begin, back, last }) => {
      begin()
      server.kill('SIGKILL')
      await last()
      await server.restart()
      back()
    }, kept),
    bounds: {},
  },
  {
    name: 'killed, restarted empty',
    length: { test: 2000, full: 5000 },
    open: onServer(async (server, { begin, back, last }) => {
      begin()
      server.kill('SIGKILL')
      await last()
      await server.restart()
      back()
    }),
    bounds: { again: QUOTA },
  },
  {
    name: 'stopped (SIGSTOP) 10 s',
    length: { test: 3000, full: 10_000 },
    open: onServer(async (server, { begin, back, last }) => {
      begin()
      server.kill('SIGSTOP')
      await last()
      server.kill('SIGCONT')
      back()
    }),
    bounds: {},
  },
]
