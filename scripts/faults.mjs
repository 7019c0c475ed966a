// `npm run faults`: compiles the fault lab and runs its scenarios at full length; words choose those whose names contain them.
import { runCompiled } from './compiled.mjs'

await runCompiled('test/faults/run.ts', ['redis-server', 'cc'])
