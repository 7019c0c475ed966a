// Checks, in a process of its own, that contenders really limit; a fast answer that is wrong wins nothing.
import { setTimeout as sleep } from 'node:timers/promises'
import { inputFromParent, reportToParent } from '../lib/child.mjs'
import { subjectOf } from './contenders.mjs'
import { inTurn, keysOf } from './keys.mjs'

const WINDOW = 1000

/**
 * Five of twenty pass, another key is untouched, and after two windows five pass again.
 * @param {string} contender
 */
async function faultsOf(contender) {
  const settings = { burst: 5, quota: 5, window: WINDOW, keys: 64 }
  const subject = await subjectOf(contender, settings)
  const keys = keysOf(0, 3).map(subject.prepare ?? ((key) => key))
  const first = inTurn(1)
  const second = new Uint32Array([1])
  // Contenders that count by windows aligned to the clock get a whole one.
  await sleep(WINDOW - (Date.now() % WINDOW) + 50)
  const seen = [await subject.run(keys, first, 0, 20), await subject.run(keys, second, 0, 1)]
  await sleep(2 * WINDOW)
  // A third key takes the decisions for which a reading of the clock may still be shared.
  await subject.run(keys, new Uint32Array([2]), 0, 64)
  seen.push(await subject.run(keys, first, 0, 20))
  return seen.join() === '5,1,5'
    ? []
    : [`${contender} allowed ${seen.join(', ')}; expected 5, 1, 5`]
}

const { contenders } = /** @type {{ contenders: string[] }} */ (inputFromParent())
reportToParent((await Promise.all(contenders.map(faultsOf))).flat())
