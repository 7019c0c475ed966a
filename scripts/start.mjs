// `npm start`: from a fresh clone to a running example; installs, builds and serves examples/five-lines.
import { build } from './build.mjs'
import { ensureInstalled } from './install.mjs'
import { root, run } from './run.mjs'

await ensureInstalled()
const built = await build()
process.exitCode =
  built || (await run('node', ['server.js'], { cwd: `${root}examples/five-lines` }))
