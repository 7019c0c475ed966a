// The controls: traffic, limit, algorithms.
import type { JSX } from 'preact'
import { DrawPad } from './draw-pad.tsx'
import { LogDrop } from './log-drop.tsx'
import { NumberField } from './number-field.tsx'
import { DEFAULTS, type NumberName, type TrafficName } from './settings.ts'
import { change, log, settings } from './state.ts'
import { algorithmName } from './words.ts'

const TRAFFIC: Readonly<Record<Exclude<TrafficName, 'log'>, readonly [string, string]>> = {
  steady: ['Steady', 'Evenly spaced requests.'],
  poisson: ['Random', 'Independent callers.'],
  bursts: ['Bursts', 'Five times the rate for a fifth of each window, then silence.'],
  edges: ['Window-edge attack', 'The whole quota just before and just after each edge.'],
  crowd: ['A crowd with favourites', 'At least fifty keys, the first ones hot.'],
  storm: ['Retry storm', 'Ten seconds’ worth at once; each refused caller retries every second.'],
  jitter: ['Retries with jitter', 'The same, but each waits for a random part of a doubling time.'],
  herd: ['Thundering herd', 'The same, but all come back exactly when Retry-After says.'],
  drawn: ['Drawn by hand', ''],
}

export function Controls(): JSX.Element {
  const { traffic, algorithms, keys } = settings.value
  const fields: readonly [NumberName, string, string?][] =
    traffic === 'log'
      ? []
      : [
          ...(traffic === 'edges'
            ? []
            : [['rate', 'Rate', 'requests/s'] as [NumberName, string, string]]),
          ['lasts', 'Time', 's'],
          ['keys', 'Keys'],
          ...(keys > 1 ? [['zipf', 'How unequal', 'Zipf'] as [NumberName, string, string]] : []),
          ['seed', 'Seed'],
        ]
  return (
    <form class="controls" aria-label="Settings" onSubmit={(event) => event.preventDefault()}>
      <fieldset>
        <legend>Limit</legend>
        <NumberField name="quota" label="Quota" unit="requests" />
        <NumberField name="window" label="Window" unit="s" />
        <NumberField name="burst" label="Burst" unit="of buckets" />
      </fieldset>
      <fieldset>
        <legend>Traffic</legend>
        <div class="field wide">
          <label for="traffic">Shape</label>
          <select
            id="traffic"
            value={traffic}
            onChange={({ currentTarget }) =>
              change({ traffic: currentTarget.value as TrafficName })
            }
          >
            {Object.entries(TRAFFIC).map(([name, [label]]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
            <option value="log" disabled={log.value === undefined}>
              Your log
            </option>
          </select>
        </div>
        {traffic !== 'log' && TRAFFIC[traffic][1] !== '' && (
          <p class="hint">{TRAFFIC[traffic][1]}</p>
        )}
        {traffic === 'drawn' && <DrawPad />}
        {traffic === 'log' && log.value === undefined && (
          <p class="hint">This link shows a log. Drop the log below to see it.</p>
        )}
        {fields.map(([name, label, unit]) => (
          <NumberField key={name} name={name} label={label} {...(unit && { unit })} />
        ))}
        <LogDrop />
      </fieldset>
      <fieldset>
        <legend>Algorithms</legend>
        <div class="checks">
          {DEFAULTS.algorithms.map((name) => (
            <label key={name}>
              <input
                type="checkbox"
                checked={algorithms.includes(name)}
                onChange={({ currentTarget }) => {
                  const next = DEFAULTS.algorithms.filter((one) =>
                    one === name ? currentTarget.checked : algorithms.includes(one),
                  )
                  // At least one stays.
                  if (next.length > 0) change({ algorithms: next })
                  else currentTarget.checked = true
                }}
              />
              {algorithmName(name)}
            </label>
          ))}
        </div>
      </fieldset>
    </form>
  )
}
