// One refused key, opened within the list: its limits now, why it was refused, and what can be done.
import { admin } from '../../api.ts'
import { askBlock } from '../../changes.ts'
import { mayChange } from '../../live.ts'
import { Loading, useLoad } from '../../parts/load.tsx'
import { hrefOf } from '../../router.ts'
import type { KeyReading, Offender } from '../../types.ts'
import { Limits } from '../key/limits.tsx'
import { Sentences, useWhy } from '../key/why.tsx'

export function KeyInPlace({ offender }: { readonly offender: Offender }) {
  const { policy, attributes } = offender
  const subject = { policy, attributes }
  const id = JSON.stringify(subject)
  const loaded = useLoad(() => admin<KeyReading>('read', subject), [id], 2000)
  const why = useWhy(attributes, policy)
  return (
    <div class="more-body">
      <Loading of={loaded}>
        {(reading) => <Limits reading={reading} subject={subject} again={loaded.again} />}
      </Loading>
      {why.value !== undefined && <Sentences list={why.value.sentences.slice(0, 4)} />}
      <p class="buttons">
        {mayChange.value && (
          <button type="button" onClick={() => askBlock(subject, loaded.again)}>
            Block
          </button>
        )}
        <a href={hrefOf('key', { policy, ...attributes })}>All about this key</a>
      </p>
    </div>
  )
}
