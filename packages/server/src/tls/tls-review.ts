// Checks the TLS files before any port is open, and reports problems at their places in the configuration.
import type { Config, TlsConfig } from '../config/config.ts'
import { shown, type Step } from '../config/problem.ts'
import { readTlsFiles, tlsBeside } from './tls-files.ts'

/** How long before its end a certificate is warned of, in milliseconds. */
export const WARN_BEFORE: number = 14 * 86_400_000

/** One sentence, with the way to what it is about. */
interface TlsRemark {
  readonly steps: readonly Step[]
  readonly message: string
}

/** Everything about the files of all listeners. */
export interface TlsReview {
  /** Problems with which the service does not start. */
  readonly problems: readonly TlsRemark[]
  readonly exposed: readonly TlsRemark[]
  readonly expiring: readonly TlsRemark[]
}

/** Reads the files; `file` is that of the configuration; relative paths start at its folder. Never rejects. */
export async function reviewTls(
  { listeners }: Pick<Config, 'listeners'>,
  file: string,
  now: number = Date.now(),
): Promise<TlsReview> {
  const review = { problems: [], exposed: [], expiring: [] } as Record<keyof TlsReview, TlsRemark[]>
  for (const [listener, value] of Object.entries(listeners)) {
    const { tls } = (value ?? {}) as { readonly tls?: TlsConfig }
    if (tls === undefined) continue
    const steps = ['listeners', listener, 'tls']
    const read = await readTlsFiles(tlsBeside(tls, file))
    if ('problems' in read) {
      for (const { field, reason } of read.problems) {
        const message = `${steps.join('.')}.${field} is ${shown(tls[field])}; the file ${reason}`
        review.problems.push({ steps: [...steps, field], message })
      }
      continue
    }
    const { exposed, expires } = read.files
    if (exposed) {
      const message = `every user of this machine can read the private key ${tls.key}: anyone who has it can impersonate this service; remove the permission, for example with chmod 640`
      review.exposed.push({ steps: [...steps, 'key'], message })
    }
    if (expires - now < WARN_BEFORE) {
      const date = new Date(expires).toISOString()
      const message = `the certificate ${tls.cert} ${expires < now ? 'expired' : 'expires'} on ${date}: then no client accepts it; renew the file, which needs no restart`
      review.expiring.push({ steps: [...steps, 'cert'], message })
    }
  }
  return review
}
