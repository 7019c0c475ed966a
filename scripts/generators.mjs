// The list of generated files: each names its output and makes its content from the sources of truth.
import { makeAlgorithmIndex } from './algorithm-index.mjs'
import { makeCommandsPage } from './commands-page.mjs'
import { makeConfigSchema } from './config-schema.mjs'
import { makeOpenapi } from './openapi-algorithms.mjs'
import { makePolicySchema } from './policy-schema.mjs'
import { makeProtoDescriptors } from './proto-descriptors.mjs'
import { makeRedisScript } from './redis-script.mjs'

/**
 * @typedef {object} Generator
 * @property {string} output path from the workspace root
 * @property {() => Promise<string>} make the whole content of the file, the same on every machine
 */

/** @type {Generator[]} */
export const generators = [
  { output: 'packages/sluice/src/redis/script.generated.ts', make: makeRedisScript },
  { output: 'docs/reference/algorithms/index.md', make: makeAlgorithmIndex },
  { output: 'docs/reference/commands.md', make: makeCommandsPage },
  { output: 'spec/openapi.json', make: makeOpenapi },
  { output: 'spec/policy.schema.json', make: makePolicySchema },
  { output: 'spec/config.schema.json', make: makeConfigSchema },
  {
    output: 'packages/server/src/envoy/grpc/descriptors.generated.ts',
    make: makeProtoDescriptors,
  },
]
