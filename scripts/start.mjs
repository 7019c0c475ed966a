// `npm start`: from a fresh clone to a running example; installs, builds and serves examples/five-lines.
import { build } from './build.mjs'
import { ensureInstalled } from './install.mjs'
import { root } from './run.mjs'

await ensureInstalled()
process.exitCode = await build()
// In this process, so that a signal to it ends the server.
if (process.exitCode === 0) await import(`${root}examples/five-lines/server.js`)
