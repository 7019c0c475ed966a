// When the clients of a pod connect again.
import type { Address } from '../servers/resp.ts'

/** Again at once after a first loss; then about twice a second, each client at moments of its own. */
export const retryDelay = (attempt: number): number =>
  attempt <= 1 ? Math.random() * 50 : 300 + Math.random() * 450

/** What a client's error event is for: its calls reject all the same. */
export const ignore = (): void => {}

/** An address and nothing else. */
export function place({ host, port }: Address): { host: string; port: number } {
  return { host, port }
}
