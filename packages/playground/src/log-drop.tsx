// The place for a log: dropped anywhere on the page, or chosen; it is read in the page and goes nowhere.
import { useEffect, useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { log, open, problem, reading } from './state.ts'
import { count, percent, time } from './words.ts'

export function LogDrop(): JSX.Element {
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    const onDrag = (event: DragEvent): void => {
      event.preventDefault()
      setOver(event.type === 'dragover')
      const file = event.type === 'drop' ? event.dataTransfer?.files[0] : undefined
      if (file !== undefined) open(file)
    }
    const kinds = ['dragover', 'dragleave', 'drop'] as const
    for (const kind of kinds) addEventListener(kind, onDrag)
    return () => {
      for (const kind of kinds) removeEventListener(kind, onDrag)
    }
  }, [])
  const found = log.value
  return (
    <div class={isOver ? 'drop over' : 'drop'}>
      <label for="log">Your access log</label>
      <input
        id="log"
        type="file"
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0]
          if (file !== undefined) open(file)
        }}
      />
      <p class="hint" role="status">
        {reading.value !== undefined
          ? `Reading… ${percent(Math.min(1, reading.value))}`
          : problem.value !== ''
            ? problem.value
            : found === undefined
              ? 'Drop a file anywhere on the page. It is read here and never leaves the page.'
              : `${found.name}: ${count(found.requests)} requests of ${count(found.keys)} addresses in ${time(found.lasts)} (${found.format})${found.unreadable > 0 ? `; ${count(found.unreadable)} lines left out` : ''}. It has not left the page.`}
      </p>
    </div>
  )
}
