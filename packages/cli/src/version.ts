// The version of the package, from its manifest.
import { createRequire } from 'node:module'

const manifest = createRequire(import.meta.url)('../package.json') as { version: string }

/** Such as `0.1.0`. */
export const version: string = manifest.version
