// What the set-ups of both clients share.
import type { Address } from '../servers/resp.ts'

/** What a client's error event is for: its calls reject all the same. */
export const ignore = (): void => {}

/** An address and nothing else. */
export function place({ host, port }: Address): { host: string; port: number } {
  return { host, port }
}
