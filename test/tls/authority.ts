// An authority that signs certificates for tests, by openssl.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The paths of a certificate and its key. */
export interface Pair {
  readonly cert: string
  readonly key: string
}

/** Who signs. */
export interface Authority {
  readonly folder: string
  /** The path of its own certificate. */
  readonly ca: string
  /** A new pair for a name; `days` may be few. */
  issue(name: string, days?: number): Pair
  close(): void
}

const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** Makes an authority in a folder of its own. */
export function authority(name = 'test authority'): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tls-'))
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { stdio: 'pipe' })
  }
  const [ca, caKey] = [join(folder, 'ca.crt'), join(folder, 'ca.key')]
  const subject = ['-subj', `/CN=${name}`]
  openssl('req', '-x509', ...EC, '-days', '9', ...subject, '-keyout', caKey, '-out', ca)
  let issued = 0
  return {
    folder,
    ca,
    issue(name, days = 90) {
      const base = join(folder, `${name}-${issued++}`)
      const [cert, key, request] = [`${base}.crt`, `${base}.key`, `${base}.csr`]
      openssl('req', '-new', ...EC, '-subj', `/CN=${name}`, '-keyout', key, '-out', request)
      const names = `${base}.ext`
      writeFileSync(names, `subjectAltName=DNS:${name},IP:127.0.0.1\n`)
      const signing = ['-CA', ca, '-CAkey', caKey, '-CAcreateserial', '-days', String(days)]
      openssl('x509', '-req', '-in', request, ...signing, '-extfile', names, '-out', cert)
      return { cert, key }
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Puts one file in another's place, as tools that renew certificates do. */
export function replaceFile(path: string, by: string): void {
  writeFileSync(`${path}.new`, readFileSync(by), { mode: 0o600 })
  renameSync(`${path}.new`, path)
}
