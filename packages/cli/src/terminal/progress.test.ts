// The progress bar, on a terminal that keeps what is drawn and a clock that the test moves.
import { describe, expect, it } from 'vitest'
import { ProgressBar } from './progress.ts'

function drawing(isTTY = true) {
  let [text, now] = ['', 0]
  const bar = new ProgressBar({ write: (part) => (text += part), isTTY }, () => now)
  return {
    bar,
    /** What is on the last line now. */
    shown: () => text.split('\r\u001b[K').at(-1),
    text: () => text,
    pass: (millis: number) => (now += millis),
  }
}

describe('the progress bar', () => {
  it('shows how far, how fast and how long still', () => {
    const { bar, shown, pass } = drawing()
    pass(2000)
    bar.show({ lines: 600_000, taken: 25, size: 100 })
    expect(shown()).toBe('██████░░░░░░░░░░░░░░░░░░ 25.0%  600,000 lines  300,000 lines/s  6 s left')
    pass(2000)
    bar.show({ lines: 1_200_000, taken: 50, size: 100 })
    expect(shown()).toMatch(/^█{12}░{12} 50.0% {2}1,200,000 lines {2}300,000 lines\/s {2}4 s left$/)
  })

  it('shows lines and speed alone when the size is not known', () => {
    const { bar, shown, pass } = drawing()
    pass(1000)
    bar.show({ lines: 5000, taken: 100, size: undefined })
    expect(shown()).toBe('5,000 lines  5,000 lines/s')
  })

  it('draws at most ten times a second', () => {
    const { bar, text, pass } = drawing()
    for (let i = 0; i < 100; i++) {
      bar.show({ lines: i, taken: i, size: 100 })
      pass(10)
    }
    expect(text().split('\r')).toHaveLength(11)
  })

  it('clears its line at the end, and never goes beyond 100%', () => {
    const { bar, shown, pass } = drawing()
    pass(1000)
    bar.show({ lines: 10, taken: 120, size: 100 })
    expect(shown()).toContain(' 100%')
    bar.end()
    expect(shown()).toBe('')
  })

  it('writes nothing where there is no terminal', () => {
    const { bar, text, pass } = drawing(false)
    pass(1000)
    bar.show({ lines: 10, taken: 20, size: 100 })
    bar.end()
    expect(text()).toBe('')
  })
})
