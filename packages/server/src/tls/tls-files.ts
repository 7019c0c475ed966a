// Reads the files of one listener's TLS and makes sure that they belong together.
import { createHash, createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import type { TlsConfig } from '../config/config.ts'

/** What the files hold, after every check. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
  readonly ca?: string
  /** When the first certificate of the chain ends, in milliseconds since 1970. */
  readonly expires: number
  /** Differs between two states of the files. */
  readonly digest: string
  /** Whether every user of the machine may read the key. */
  readonly exposed: boolean
}

/** What is wrong with one of the files; never any of its content. */
export interface TlsProblem {
  readonly field: 'cert' | 'key' | 'ca'
  /** Goes on after "the file". */
  readonly reason: string
  /** Set if the file could not be read, which may change without a change of the file. */
  readonly isUnread?: boolean
}

/** Relative paths start at the folder of the configuration. */
export function tlsBeside(config: TlsConfig, configFile: string | undefined): TlsConfig {
  if (configFile === undefined) return config
  const beside = (path: string): string => resolve(dirname(configFile), path)
  const { cert, key, ca } = config
  return {
    ...config,
    cert: beside(cert),
    key: beside(key),
    ...(ca === undefined ? {} : { ca: beside(ca) }),
  }
}

/** The files, or everything that is wrong with them. Never rejects. */
export async function readTlsFiles(
  config: TlsConfig,
): Promise<{ readonly files: TlsFiles } | { readonly problems: readonly TlsProblem[] }> {
  const problems: TlsProblem[] = []
  const part = async <T>(field: TlsProblem['field'], parse: (text: string) => T) => {
    let isUnread = true
    try {
      const { text, mode } = await readPem(config[field] ?? '')
      isUnread = false
      return { text, mode, value: parse(text) }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      problems.push({ field, reason, isUnread })
      return undefined
    }
  }
  const cert = await part('cert', certificatesIn)
  const key = await part('key', privateKeyIn)
  const ca = config.ca === undefined ? undefined : await part('ca', certificatesIn)
  if (cert === undefined || key === undefined || problems.length > 0) return { problems }
  const pem = { cert: cert.text, key: key.text, ...(ca && { ca: ca.text }) }
  const reason = mismatch(cert.value, key.value, pem, config)
  if (reason !== undefined) return { problems: [reason] }
  const texts = [cert.text, key.text, ca?.text ?? '']
  return {
    files: {
      ...pem,
      expires: cert.value.reduce(
        (first, { validTo }) => Math.min(first, Date.parse(validTo)),
        Infinity,
      ),
      digest: createHash('sha256').update(JSON.stringify(texts)).digest('hex'),
      exposed: (key.mode & 0o004) !== 0,
    },
  }
}

/** More than any chain has, and small enough that a wrong file is read quickly. */
const LARGEST = 1_048_576

async function readPem(path: string): Promise<{ text: string; mode: number }> {
  try {
    const found = await stat(path)
    // A pipe or a device would never end.
    if (!found.isFile()) throw new Error('it is not a file')
    if (found.size > LARGEST) throw new Error(`it has more than ${LARGEST} bytes`)
    return { text: await readFile(path, 'utf8'), mode: found.mode }
  } catch (error) {
    throw new Error(`cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

function certificatesIn(text: string): readonly X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (blocks.length === 0) throw new Error('holds no certificate in PEM form')
  return blocks.map((block, i) => {
    try {
      return new X509Certificate(block)
    } catch {
      throw new Error(`has a certificate that cannot be understood, number ${i + 1}`)
    }
  })
}

function privateKeyIn(text: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch (error) {
    throw new Error(
      text.includes('ENCRYPTED')
        ? 'is encrypted; accepted: a key without a passphrase, in a file that only the service can read'
        : 'holds no private key in PEM form',
      { cause: error },
    )
  }
}

function mismatch(
  [certificate]: readonly X509Certificate[],
  key: KeyObject,
  pem: { readonly cert: string; readonly key: string; readonly ca?: string },
  { cert, minVersion }: TlsConfig,
): TlsProblem | undefined {
  if (certificate?.checkPrivateKey(key) !== true)
    return { field: 'key', reason: `is not the key of the first certificate in ${cert}` }
  try {
    createSecureContext({ ...pem, minVersion })
    return undefined
  } catch (error) {
    // Such as a key that is too short for today's rules.
    return { field: 'cert', reason: `is not accepted: ${(error as Error).message}` }
  }
}
