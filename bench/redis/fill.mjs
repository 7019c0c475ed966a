// Decides once on each of many keys, in a process of its own.
import { inputFromParent, reportToParent } from '../lib/child.mjs'
import { subjectOf } from './contenders.mjs'
import { drive } from './drive.mjs'
import { userKeys } from './keys.mjs'

const { contender, keys, url } = /** @type {{ contender: string, keys: number, url: string }} */ (
  inputFromParent()
)
const subject = await subjectOf(contender, { url, burst: 1000, quota: 1, window: 600_000 })
const prepared = userKeys(keys).map(subject.prepare ?? ((key) => key))
reportToParent(await drive(subject, prepared, { inFlight: 64, decisions: keys }))
