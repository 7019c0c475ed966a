// A contender on a real socket, in a process of its own; tells its parent where it listens and what CPU it has used.
import { cpuSeconds } from '../lib/cpu.mjs'
import { listenerOf } from './contenders.mjs'
import { serve } from './frameworks.mjs'

const { framework, name, host, redis } = JSON.parse(process.argv[2] ?? '{}')
const listener = await listenerOf(framework, name, { quota: 1_000_000_000, redis })
const server = await serve(listener, host)
process.on('message', () => process.send?.({ cpu: cpuSeconds() }))
process.on('disconnect', () => process.exit(0))
process.send?.({ address: server.address() })
