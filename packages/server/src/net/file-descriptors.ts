// Whether the process may open as many files as its listeners accept connections.
import { readFileSync } from 'node:fs'
import type { ListenersConfig } from '../config/config.ts'

/** Connections that the gRPC listener accepts by default. */
const GRPC_CONNECTIONS = 20_000

/** File descriptors that the listeners need at their limits; the reverse proxy also has one for each upstream request. */
function descriptorsNeeded({ http, grpc, proxy, admin }: ListenersConfig): number {
  const forGrpc = grpc === undefined ? 0 : (grpc.maxConnections ?? GRPC_CONNECTIONS)
  const forProxy = proxy === undefined ? 0 : proxy.maxConnections + proxy.maxRequests
  return http.maxConnections + forGrpc + forProxy + (admin?.maxConnections ?? 0)
}

/** The descriptors that a process may have, from the text of `/proc/self/limits`; undefined if it does not say. */
export function descriptorLimitIn(limits: string): number | undefined {
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(limits) ?? []
  if (soft === undefined) return undefined
  return soft === 'unlimited' ? Infinity : Number(soft)
}

/** The descriptors that this process may have; undefined where the system does not say, as outside Linux. */
export function descriptorLimit(): number | undefined {
  try {
    return descriptorLimitIn(readFileSync('/proc/self/limits', 'utf8'))
  } catch {
    return undefined
  }
}

/** The warning if there are too few descriptors; undefined if there are enough, or if the limit is unknown. */
export function descriptorWarning(
  listeners: ListenersConfig,
  limit: number | undefined,
): string | undefined {
  const needed = descriptorsNeeded(listeners)
  if (limit === undefined || limit >= needed) return undefined
  return `the process may open ${limit} files, but its listeners accept connections for ${needed}; raise the limit (ulimit -n, LimitNOFILE) or lower maxConnections`
}
