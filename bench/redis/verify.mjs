// Checks, in a process of its own, that contenders really limit; a fast answer that is wrong wins nothing.
import { setTimeout as sleep } from 'node:timers/promises'
import { inputFromParent, reportToParent } from '../lib/child.mjs'
import { subjectOf } from './contenders.mjs'
import { drive } from './drive.mjs'

const WINDOW = 2000

/**
 * Five of twenty at once pass, another key is untouched, and after two windows five pass again.
 * @param {string} contender @param {string} url @param {number} number different for each contender
 */
async function faultsOf(contender, url, number) {
  const subject = await subjectOf(contender, { url, burst: 5, quota: 5, window: WINDOW })
  const [first, second] = [`user:1${number}000001`, `user:1${number}000002`].map(
    subject.prepare ?? ((key) => key),
  )
  const twenty = { inFlight: 20, decisions: 20 }
  const seen = [
    (await drive(subject, [first], twenty)).allowed,
    (await drive(subject, [second], { inFlight: 1, decisions: 1 })).allowed,
  ]
  await sleep(2 * WINDOW)
  seen.push((await drive(subject, [first], twenty)).allowed)
  return seen.join() === '5,1,5'
    ? []
    : [`${contender} allowed ${seen.join(', ')}; expected 5, 1, 5`]
}

const { contenders, url } = /** @type {{ contenders: string[], url: string }} */ (inputFromParent())
const faults = contenders.map((contender, number) => faultsOf(contender, url, number))
reportToParent((await Promise.all(faults)).flat())
