// `npm run coordination`: leases on 8 processes and a real server, their record against the bound; words choose scenarios.
import { runCompiled } from './compiled.mjs'

await runCompiled('test/coordination/run.ts', ['redis-server'])
