// How much of a count is left, as a bar.

/** A share between 0 and 1; orange below a tenth, red at nothing. */
export function Level({ share, name }: { readonly share: number; readonly name: string }) {
  const kept = Math.max(0, Math.min(1, share))
  return (
    <div
      class={`level ${kept === 0 ? 'none' : kept < 0.1 ? 'low' : ''}`}
      role="meter"
      aria-label={name}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(kept * 100)}
    >
      <i style={{ width: `${kept * 100}%` }} />
    </div>
  )
}
