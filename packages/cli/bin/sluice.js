#!/usr/bin/env node
// The `sluice` command as npm links it: not in dist, since npm leaves out a command whose file is not there yet.
import { existsSync } from 'node:fs'

const main = new URL('../dist/main.js', import.meta.url)
if (existsSync(main)) await import(main.href)
else {
  process.stderr.write('error: the sluice command is not built yet; accepted: npm run build\n')
  process.exitCode = 1
}
