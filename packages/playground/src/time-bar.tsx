// The instant that is looked at: a slider, and a button that lets time pass.
import { useEffect, useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { setNumber, settings, shown } from './state.ts'
import { time } from './words.ts'

/** All of the time passes within so many milliseconds. */
const PLAYS_FOR = 12_000

export function TimeBar(): JSX.Element {
  const [isPlaying, setPlaying] = useState(false)
  const { at } = settings.value
  const { lasts } = shown.value
  useEffect(() => {
    if (!isPlaying) return
    let last = performance.now()
    // Fractions are kept here: the setting has whole steps.
    let exact = settings.peek().at
    let frame = requestAnimationFrame(function move(now) {
      exact += ((now - last) / PLAYS_FOR) * 1000
      last = now
      setNumber('at', exact)
      if (exact >= 1000) return setPlaying(false)
      frame = requestAnimationFrame(move)
    })
    return () => cancelAnimationFrame(frame)
  }, [isPlaying])
  return (
    <div class="timebar">
      <button
        type="button"
        aria-pressed={isPlaying}
        onClick={() => {
          if (!isPlaying && at >= 1000) setNumber('at', 0)
          setPlaying(!isPlaying)
        }}
      >
        {isPlaying ? 'Pause' : 'Play'}
      </button>
      <input
        type="range"
        aria-label="Time"
        aria-valuetext={time((at / 1000) * lasts)}
        min={0}
        max={1000}
        value={at}
        onInput={({ currentTarget }) => setNumber('at', currentTarget.valueAsNumber)}
      />
      <output>{time((at / 1000) * lasts)}</output>
    </div>
  )
}
