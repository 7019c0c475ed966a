// The examples in the doc comments of public names, each as a module that compiles: with its imports, and what it takes as given.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { publicNames } from './public-names.ts'

const packages = fileURLToPath(new URL('../../packages/', import.meta.url))

/** Where names of other packages come from. */
const IMPORTS: Readonly<Record<string, string>> = {
  Agent: "import { Agent, fetch } from 'undici'",
  Cluster: "import { Cluster } from 'ioredis'",
  IncomingMessage: "import type { IncomingMessage } from 'node:http'",
  Redis: "import { Redis } from 'ioredis'",
  Server: "import { Server } from '@grpc/grpc-js'",
  ServerResponse: "import type { ServerResponse } from 'node:http'",
  ServerInterceptingCall: "import { ServerInterceptingCall } from '@grpc/grpc-js'",
  ThrottlerModule: "import { ThrottlerModule } from '@nestjs/throttler'",
  axios: "import axios from 'axios'",
  createClient: "import { createClient } from 'redis'",
  createCluster: "import { createCluster } from 'redis'",
  createSentinel: "import { createSentinel } from 'redis'",
  createServer: "import { createServer } from 'node:http'",
  got: "import got from 'got'",
  it: "import { it } from 'vitest'",
  ky: "import ky from 'ky'",
}

const NODE_HTTP = "import('node:http')"
/** What an example may take as given. */
const GIVEN: Readonly<Record<string, string>> = {
  app: "declare const app: import('express').Express",
  budget: "declare const budget: import('sluice/budgets').Budget",
  cachedProfile: 'declare const cachedProfile: (id: string) => object',
  checks: "declare const checks: readonly import('sluice').Check[]",
  client: "declare const client: import('ioredis').Redis",
  decision: "declare const decision: import('sluice').Decision",
  fetchProfile: 'declare const fetchProfile: (id: string) => Promise<object>',
  file: "declare const file: import('sluice/testing').VectorFile",
  id: 'declare const id: string',
  limiter: "declare const limiter: import('sluice').SyncLimiter",
  make: "declare const make: Parameters<typeof import('sluice/testing').testStore>[0]",
  meter: "declare const meter: NonNullable<import('sluice/otel').OtelOptions['meter']>",
  nodes: 'declare const nodes: { host: string; port: number }[]',
  notify: 'declare const notify: (...what: unknown[]) => void',
  policy: "declare const policy: import('sluice').Policy",
  request: `declare const request: ${NODE_HTTP}.IncomingMessage`,
  reservation: "declare const reservation: import('sluice/budgets').Reservation",
  response: `declare const response: ${NODE_HTTP}.ServerResponse`,
  rootNodes: 'declare const rootNodes: { url: string }[]',
  scenario: "declare const scenario: import('sluice/simulator').Scenario",
  sentinelRootNodes: 'declare const sentinelRootNodes: { host: string; port: number }[]',
  slot: 'declare const slot: { leave(): void }',
  store: "declare const store: import('sluice').Store",
  subject: "declare const subject: Parameters<typeof import('sluice/testing').runVectorCase>[1]",
  text: 'declare const text: string',
  token: 'declare const token: string',
  tryOnce: 'declare const tryOnce: () => Promise<boolean>',
}

/** What another file takes under the same name. */
const GIVEN_IN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'client/hints/hint.ts': { response: 'declare const response: Response' },
  'http/fastify.ts': { app: "declare const app: import('fastify').FastifyInstance" },
  'http/hono.ts': { app: "declare const app: import('hono').Hono" },
  'http/koa.ts': { app: "declare const app: import('koa')" },
}

/** The entry whose `rateLimit` an example means, where its own file is none. */
const RATE_LIMIT = 'sluice/http/express'

/** One example. */
export interface HoverExample {
  readonly name: string
  readonly code: string
}

/** Every example of the library and of the Nest adapter. */
export function hoverExamples(): readonly HoverExample[] {
  const ours = ownImports()
  return ['sluice', 'nest'].flatMap((name) => {
    const folder = join(packages, name, 'src')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return files
      .filter((file) => file.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(file))
      .flatMap((file) =>
        examplesIn(readFileSync(join(folder, file), 'utf8')).map((code, i) => ({
          name: `${name}/${file} ${i + 1}`,
          code: `${headOf(code, file, ours)}\n${code}`,
        })),
      )
  })
}

function examplesIn(text: string): readonly string[] {
  const found = text.matchAll(/^ \* @example\n \* ```ts\n((?: \*.*\n)*?) \* ```$/gm)
  return [...found].map((match) => match[1]!.replaceAll(/^ \* ?/gm, ''))
}

/** The imports and declarations that the code needs. */
function headOf(code: string, file: string, ours: ReadonlyMap<string, string>): string {
  const bare = code.replaceAll(/'[^'\n]*'|\/\/.*$/gm, "''")
  const declared = [...bare.matchAll(/(?:const|let) (?:\{([^}]*)\}|\[([^\]]*)\]|(\w+))/g)].flatMap(
    ([, members = '', items = '', single = '']) => `${members},${items},${single}`.split(/[ ,]+/),
  )
  const imported = [...bare.matchAll(/import \{([^}]*)\}/g)].flatMap(([, list]) =>
    list!.split(/[ ,]+/),
  )
  const parameters = [...bare.matchAll(/\(([\w, _]*)\) =>/g)].flatMap(([, list]) =>
    list!.split(/[ ,]+/),
  )
  // Not members: after a dot that is not of a spread, or before a colon.
  const used = new Set(
    [...bare.matchAll(/(?<!\w|(?<!\.\.)\.)([A-Za-z_]\w*)(?!\w*:)/g)].map(([, name]) => name!),
  )
  for (const name of [...declared, ...imported, ...parameters]) used.delete(name)
  const own = file.replace(/\.ts$/, '')
  return [...used]
    .flatMap((name) => {
      if (name === 'rateLimit') {
        const entry = /^http\/(express|fastify|fetch|grpc|hono|koa|node)$/.test(own)
          ? `sluice/${own}`
          : RATE_LIMIT
        return [`import { rateLimit } from '${entry}'`]
      }
      return [ours.get(name) ?? IMPORTS[name] ?? GIVEN_IN[file]?.[name] ?? GIVEN[name] ?? '']
    })
    .filter((line) => line !== '')
    .join('\n')
}

/** How to import each name that the entries export, from the first entry that has it. */
function ownImports(): ReadonlyMap<string, string> {
  const imports = new Map([['throttlerStorage', "import { throttlerStorage } from '@sluice/nest'"]])
  for (const { name, isType, entry } of publicNames())
    if (!imports.has(name))
      imports.set(name, `import { ${isType ? 'type ' : ''}${name} } from '${entry}'`)
  return imports
}
