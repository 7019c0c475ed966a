// A line without axes, for a row of a table.

/** Draws the values from left to right; the name tells what they are. */
export function Sparkline({
  values,
  name,
  colour,
}: {
  readonly values: readonly number[]
  readonly name: string
  readonly colour: string
}) {
  const [width, height] = [96, 22]
  const most = Math.max(1, ...values)
  const step = width / Math.max(1, values.length - 1)
  const points = values.map(
    (value, i) =>
      `${(i * step).toFixed(1)},${(height - 2 - (value / most) * (height - 4)).toFixed(1)}`,
  )
  return (
    <svg class="spark" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={name}>
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke={`var(${colour})`}
        stroke-width="1.5"
      />
    </svg>
  )
}
