// `sluice doctor`: checks a running service for the most common problems, and says what to do.
import { visible } from '@sluice/server'
import { print, type Streams } from '../terminal/streams.ts'
import { askAdmin, type AdminFlags } from './admin-client.ts'

interface Findings {
  readonly findings: readonly {
    readonly name: string
    readonly level: 'ok' | 'warning' | 'error'
    readonly message: string
  }[]
}

/** Prints every finding; exit code 0 when there is no error, 1 when there is one. */
export async function doctor(flags: AdminFlags, streams: Streams): Promise<number> {
  const { findings } = await askAdmin<Findings>(flags, 'doctor')
  if (flags.json === true) print(streams.stdout, JSON.stringify({ findings }, undefined, 2))
  else
    for (const { level, name, message } of findings)
      print(streams.stdout, `${level.padEnd(7)} ${name}: ${visible(message, 500)}`)
  return findings.some(({ level }) => level === 'error') ? 1 : 0
}
