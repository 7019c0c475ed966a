// The pages of the console, read once at start: a handful of small files that the package carries.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Where the build puts them: beside `src` and `dist`, so that both find them. */
const FOLDER = fileURLToPath(new URL('../../../console/', import.meta.url))

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Nothing from elsewhere, nothing in frames, no script but ours. */
const SECURITY = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

const NOT_BUILT =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Sluice</title><p>The console is not built. Run <code>npm run build</code>.</p></html>'

interface StaticFile {
  readonly type: string
  readonly plain: Buffer
  readonly zipped: Buffer
  readonly tag: string
}

/** The files by their path. */
export class StaticFiles {
  private readonly files: ReadonlyMap<string, StaticFile>

  constructor(folder: string = FOLDER) {
    this.files = new Map(filesIn(folder).map(([path, content]) => [path, fileOf(path, content)]))
  }

  /** Answers a request for a file; false when there is none at the path. */
  send(path: string, request: IncomingMessage, response: ServerResponse): boolean {
    const file = this.files.get(path === '/' ? '/index.html' : path)
    if (file === undefined) return false
    const headers = {
      ...SECURITY,
      'content-type': file.type,
      etag: file.tag,
      vary: 'accept-encoding',
      // The names of assets change with their content.
      'cache-control': path.startsWith('/assets/') ? 'max-age=31536000, immutable' : 'no-cache',
    }
    if (request.headers['if-none-match'] === file.tag) {
      response.writeHead(304, headers).end()
      return true
    }
    const isZipped = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
    const body = isZipped ? file.zipped : file.plain
    response.writeHead(200, {
      ...headers,
      ...(isZipped && { 'content-encoding': 'gzip' }),
      'content-length': body.length,
    })
    response.end(request.method === 'HEAD' ? undefined : body)
    return true
  }
}

function filesIn(folder: string): readonly (readonly [path: string, content: Buffer])[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const file = `${entry.parentPath}/${entry.name}`
        const path = file.slice(folder.length).replaceAll('\\', '/').replace(/^\/*/, '/')
        return [path, readFileSync(file)]
      })
  } catch {
    return [['/index.html', Buffer.from(NOT_BUILT)]]
  }
}

function fileOf(path: string, plain: Buffer): StaticFile {
  const tag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`
  const type = TYPES[extname(path)] ?? 'application/octet-stream'
  return { type, plain, zipped: gzipSync(plain), tag }
}
