// Checks the files that listeners name, except those of TLS, before any port is open.
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { readTokens } from '../config/tokens.ts'
import type { Config } from '../config/config.ts'
import { shown, type Step } from '../config/problem.ts'

/** One sentence, with the way to what it is about. */
interface FileProblem {
  readonly steps: readonly Step[]
  readonly message: string
}

/** What is wrong with them; `file` is that of the configuration; relative paths start at its folder. Never rejects. */
export async function reviewNamedFiles(
  { listeners: { admin, proxy } }: Pick<Config, 'listeners'>,
  file: string,
): Promise<readonly FileProblem[]> {
  const problems: FileProblem[] = []
  const review = async (
    steps: readonly string[],
    path: string | undefined,
    read: (path: string) => Promise<unknown>,
  ): Promise<void> => {
    if (path === undefined) return
    try {
      await read(resolve(dirname(file), path))
    } catch (error) {
      const { message } = error as Error
      const sentence = `${steps.join('.')} is ${shown(path)}; the file is of no use: ${message}`
      problems.push({ steps, message: sentence })
    }
  }
  await review(['listeners', 'proxy', 'upstreamCa'], proxy?.upstreamCa, readCertificates)
  await review(['listeners', 'admin', 'tokenFile'], admin?.tokenFile, readTokens)
  return problems
}

async function readCertificates(path: string): Promise<void> {
  const text = await readFile(path, 'utf8')
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw new Error('it holds no certificate in PEM form')
  void new X509Certificate(text)
}
