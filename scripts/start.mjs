// `npm start`: from a fresh clone to a running service; installs, builds what has changed, and serves examples/service.
import { build } from './build.mjs'
import { ensureInstalled } from './install.mjs'
import { root } from './run.mjs'

/** The arguments after `npm start --`, such as --demo. */
const wanted = process.argv.slice(2)
await ensureInstalled()
process.exitCode = await build({ onlyChanged: true })
if (process.exitCode === 0) {
  const main = `${root}packages/cli/dist/main.js`
  process.argv = [
    process.execPath,
    main,
    'serve',
    `${root}examples/service/sluice.yaml`,
    '--console',
  ]
  process.argv.push(...wanted)
  // In this process, so that a signal to it ends the service.
  await import(main)
}
