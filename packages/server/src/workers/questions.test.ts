import { describe, expect, it, vi } from 'vitest'
import { controlId } from '../controls/control.ts'
import { answerTo, Asker, type Ask, type Question } from './questions.ts'
import { AskedControls, SharedControls } from './shared-controls.ts'

const block = (user: string) =>
  ({
    kind: 'block',
    id: controlId('block', [null, { user }]),
    policy: null,
    attributes: { user },
    note: '',
    by: 'test',
  }) as const

/** Workers that ask one primary process. */
function workers(count: number): readonly AskedControls[] {
  const shared = new SharedControls()
  const answer = async (question: Question): Promise<unknown> => {
    if (question.what === 'controls') return shared.read(question.version)
    if (question.what === 'put') return shared.put(question.control, question.duration)
    return question.what === 'remove' ? shared.remove(question.control) : undefined
  }
  return Array.from({ length: count }, () => {
    const asker = new Asker((ask) => {
      void answerTo(ask, answer).then((told) => asker.hear(told))
    })
    return new AskedControls(asker)
  })
}

describe('questions to the primary process', () => {
  it('get the answer of the same number, in whatever order answers come', async () => {
    const asked: Ask[] = []
    const asker = new Asker((ask) => asked.push(ask))
    const first = asker.ask('metrics', {})
    const second = asker.ask('metrics', {})
    asker.hear({ type: 'answer', id: asked[1]!.id, value: 'two' })
    asker.hear({ type: 'answer', id: asked[1]!.id, value: 'again' })
    asker.hear({ type: 'answer', id: asked[0]!.id, value: 'one' })
    asker.hear({ type: 'answer', id: 99, value: 'nobody asked' })
    expect(await Promise.all([first, second])).toEqual(['one', 'two'])
  })

  it('that nobody can answer, or nobody answers in time, are a 503', async () => {
    vi.useFakeTimers()
    const failing = new Asker((ask) => {
      void answerTo(ask, () => Promise.reject(new Error('x'))).then((told) => failing.hear(told))
    })
    const unavailable = { problem: { status: 503, code: 'unavailable' } }
    await expect(failing.ask('metrics', {})).rejects.toMatchObject(unavailable)
    const silent = new Asker(() => {}).ask('metrics', {})
    const [error] = await Promise.all([
      silent.catch((late: unknown) => late),
      vi.advanceTimersByTimeAsync(2000),
    ])
    expect(error).toMatchObject(unavailable)
    vi.useRealTimers()
  })
})

describe('blocks and overrides of several workers', () => {
  it('are told to each of them once, and all of them to one that comes later', async () => {
    const [first, second, later] = workers(3)
    expect(await first!.read()).toBe(undefined)
    expect(await first!.put(block('ann'), 60_000)).toBe(true)
    expect(await first!.read()).toMatchObject([{ attributes: { user: 'ann' } }])
    expect(await second!.read()).toMatchObject([{ attributes: { user: 'ann' } }])
    expect(await second!.read()).toBe(undefined)
    expect(await second!.put(block('bob'), null)).toBe(true)
    expect(await later!.read()).toHaveLength(2)
    expect(await first!.remove(block('ann').id)).toBe(true)
    expect(await first!.remove(block('ann').id)).toBe(false)
    for (const worker of [first, second, later])
      expect(await worker!.read()).toMatchObject([{ attributes: { user: 'bob' } }])
  })
})
