// `npm run check`: everything that CI does, in order; goes on after a failing step and sums up at the end.
import { ensureInstalled } from './install.mjs'
import { run, tool } from './run.mjs'

/** @type {[name: string, command: string, args: string[]][]} */
const steps = [
  ['format', tool('oxfmt'), ['--check']],
  ['lint', tool('oxlint'), ['--type-aware']],
  ['imports', 'node', ['scripts/check-imports.mjs']],
  ['names', 'node', ['scripts/check-names.mjs']],
  ['rules of tests', 'node', ['scripts/check-tests.mjs']],
  ['types, library', tool('tsc'), ['-p', 'packages/sluice', '--noEmit']],
  ['types, playground', tool('tsc'), ['-p', 'packages/playground']],
  ['types, all', tool('tsc'), []],
  ['dead code', tool('knip'), []],
  ['build', 'node', ['scripts/build.mjs']],
  ['generated files', 'node', ['scripts/generate.mjs', '--check']],
  ['package', 'node', ['scripts/check-package.mjs']],
  ['size', tool('size-limit'), []],
  ['tests', 'node', ['scripts/test.mjs']],
]

await ensureInstalled()
const summary = []
for (const [name, command, args] of steps) {
  console.log(`\n── ${name}`)
  const start = performance.now()
  const ok = (await run(command, args)) === 0
  const line = `${ok ? 'ok  ' : 'FAIL'}  ${name.padEnd(16)} ${((performance.now() - start) / 1000).toFixed(1).padStart(6)} s`
  console.log(`── ${line}`)
  summary.push(line)
  if (!ok) process.exitCode = 1
}
console.log(`\n${summary.join('\n')}`)
