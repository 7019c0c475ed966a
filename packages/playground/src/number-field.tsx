// A number that can be typed or pulled: an input and a slider with equal steps for equal ratios.
import type { JSX } from 'preact'
import { setNumber, settings } from './state.ts'
import { RANGES, type NumberName } from './settings.ts'

const STEPS = 200

/** Steps of a slider that starts at 0 are even; others grow with the value. */
function valueAt(name: NumberName, step: number): number {
  const [least, most] = RANGES[name]
  const share = step / STEPS
  return least === 0 ? most * share : least * (most / least) ** share
}

function stepOf(name: NumberName, value: number): number {
  const [least, most] = RANGES[name]
  const share = least === 0 ? value / most : Math.log(value / least) / Math.log(most / least)
  return Math.round(share * STEPS)
}

/** Three digits that matter are enough for a slider. */
function rounded(value: number): number {
  return Number(value.toPrecision(value < 100 ? 2 : 3))
}

export function NumberField(props: {
  readonly name: NumberName
  readonly label: string
  readonly unit?: string
}): JSX.Element {
  const { name, label, unit } = props
  const value = settings.value[name]
  const [least, most] = RANGES[name]
  return (
    <div class="field">
      <label for={name}>
        {label} {unit !== undefined && <span class="unit">{unit}</span>}
      </label>
      <input
        id={name}
        type="number"
        inputMode="decimal"
        min={least}
        max={most}
        step="any"
        value={value}
        onChange={(event) => setNumber(name, event.currentTarget.valueAsNumber)}
      />
      <input
        type="range"
        aria-label={`${label}, slider`}
        aria-valuetext={`${value} ${unit ?? ''}`}
        min={0}
        max={STEPS}
        value={stepOf(name, value)}
        onInput={(event) =>
          setNumber(name, rounded(valueAt(name, event.currentTarget.valueAsNumber)))
        }
      />
    </div>
  )
}
