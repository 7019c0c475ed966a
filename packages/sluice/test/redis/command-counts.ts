// What a server has been asked, by its own count.
import type { RedisServer } from '../../../../test/servers/redis-server.ts'

/** How often each command was called since the last reset, those of scripts included. */
export async function commandCounts(
  server: RedisServer,
): Promise<Readonly<Record<string, number>>> {
  const info = await server.cli('INFO', 'commandstats')
  const lines = [...info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)]
  return Object.fromEntries(lines.map(([, name, calls]) => [name!, Number(calls)]))
}

/** Microseconds that a command has taken on average since the last reset. */
export async function commandMicros(server: RedisServer, command: string): Promise<number> {
  const info = await server.cli('INFO', 'commandstats')
  const line = new RegExp(`^cmdstat_${command}:.*usec_per_call=([\\d.]+)`, 'm').exec(info)
  return Number(line?.[1])
}

export async function resetCounts(server: RedisServer): Promise<void> {
  await server.cli('CONFIG', 'RESETSTAT')
}
