// The other half of the simulated fleets.
import { describe } from 'vitest'
import { compiledRun, keepsItsBounds } from './seeds.ts'

describe('a fleet whose store, network and processes fail', () => {
  keepsItsBounds('second', compiledRun())
})
