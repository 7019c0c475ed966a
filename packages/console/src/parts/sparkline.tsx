// A line without axes, for a row of a table.

const WIDTH = 96
const HEIGHT = 24

/** Draws the values from left to right; the name says what they are. */
export function Sparkline({
  values,
  name,
  colour,
}: {
  readonly values: readonly number[]
  readonly name: string
  readonly colour: string
}) {
  const most = Math.max(1, ...values)
  const isFlat = !values.some((value) => value > 0)
  const step = WIDTH / Math.max(1, values.length - 1)
  const points = values
    .map((value, i) => [i * step, HEIGHT - 3 - (value / most) * (HEIGHT - 6)] as const)
    .map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`)
  const stroke = `var(${isFlat ? '--line' : colour})`
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={name}>
      {!isFlat && (
        <polygon
          points={[`0,${HEIGHT}`, ...points, `${WIDTH},${HEIGHT}`].join(' ')}
          fill={stroke}
          opacity="0.14"
        />
      )}
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke={stroke}
        stroke-width="1.6"
        stroke-linejoin="round"
      />
    </svg>
  )
}
