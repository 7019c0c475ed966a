// Reads limiters of rate-limiter-flexible in source code.
import type { Rule } from 'sluice'
import { windowText, type Imported, type Note } from './imported.ts'
import { nameOf, SourceFile, type CallOption, type SyntaxNode } from './source.ts'

const PACKAGE = 'rate-limiter-flexible'

/** What each option means here. Undefined: it is part of the rule. */
const OPTION_NOTES: Readonly<Record<string, string | undefined>> = {
  points: undefined,
  duration: undefined,
  keyPrefix: undefined,
  blockDuration:
    'blockDuration: write a second rule with a longer window and countRefused, or the lockout of a policy',
  execEvenly: undefined,
  execEvenlyMinDelayMs: 'execEvenlyMinDelayMs: the leaky bucket spreads requests evenly by itself',
  storeClient: 'storeClient: write store: redis://… in the file, or redisStore(client) in code',
  storeType: 'storeType: the store recognises its client',
  useRedisPackage: 'useRedisPackage: the store recognises its client',
  useRedis3AndLowerPackage: 'useRedis3AndLowerPackage: the store recognises its client',
  insuranceLimiter:
    'insuranceLimiter: a limiter falls back to memory by itself; see onStoreFailure',
  inMemoryBlockOnConsumed: 'inMemoryBlockOnConsumed: refusals are remembered by redisStore itself',
  inMemoryBlockDuration: 'inMemoryBlockDuration: write holdRefusals of redisStore',
  rejectIfRedisNotReady: 'rejectIfRedisNotReady: calls fail at once while there is no connection',
  customIncrTtlLuaScript: 'customIncrTtlLuaScript: the script is part of the store',
  customFixedWindow:
    'customFixedWindow: leave out anchor: first, so that windows begin at fixed times',
  timeoutMs: 'timeoutMs: write timeout of the store',
  rejectIfValkeyNotReady: 'rejectIfValkeyNotReady: calls fail at once while there is no connection',
  blockOnConsumed: 'blockOnConsumed: write the lockout of a policy',
  schemaName: 'schemaName: there is no such store; use Redis',
  dbName: 'dbName: there is no such store; use Redis',
  tableName: 'tableName: there is no such store; use Redis',
  tableCreated: 'tableCreated: there is no such store; use Redis',
  clearExpiredByTimeout: 'clearExpiredByTimeout: keys expire by themselves',
  clientType: 'clientType: there is no such store; use Redis',
  indexKeyPrefix: 'indexKeyPrefix: there is no such store; use Redis',
  disableIndexesCreation: 'disableIndexesCreation: there is no such store; use Redis',
}

/** One rule for each limiter. The calls themselves differ too much to be rewritten. */
export function importRateLimiterFlexible(text: string, file: string): Imported {
  const source = new SourceFile(text, file)
  const names = source.namesFrom(PACKAGE)
  const notes: Note[] = []
  const rules: Rule[] = []
  for (const made of source.all('NewExpression')) {
    const name = nameOf(made['callee'])
    const used = names.get(name)
    if (used === undefined) continue
    const { line } = made.loc.start
    const kind = used.imported === 'default' ? name : used.imported
    if (/Union|Queue|Wrapper|BurstyRateLimiter/.test(kind)) {
      notes.push({ line, text: `${kind}: ${KINDS[kind] ?? 'write a policy of several rules'}` })
      continue
    }
    const options = source.optionsOf((made['arguments'] as SyntaxNode[])[0])
    const [points, duration] = [options?.get('points'), options?.get('duration')]
    if (options === undefined || !isWhole(points) || !isWhole(duration)) {
      notes.push({
        line,
        text: 'the limit is computed at run time; no rule was written for it',
      })
      continue
    }
    const prefix = options.get('keyPrefix')?.value
    const ruleName =
      typeof prefix === 'string' && prefix !== '' ? prefix : `limit-${rules.length + 1}`
    const isEven = options.get('execEvenly')?.value === true
    if (duration.value === 0)
      notes.push({ line, text: 'duration 0 never expires; the rule has a window of 365 days' })
    const window = duration.value === 0 ? '365d' : windowText(duration.value * 1000)
    rules.push({
      name: ruleName,
      by: ['key'],
      limit: {
        quota: points.value,
        window: window as '1min',
        // Their windows begin with the first request of a key.
        ...(isEven
          ? { algorithm: 'leaky-bucket' }
          : { algorithm: 'fixed-window', anchor: 'first' }),
      },
    })
    for (const option of options.values()) {
      if (Object.hasOwn(OPTION_NOTES, option.name)) {
        const text = OPTION_NOTES[option.name]
        if (text !== undefined) notes.push({ line: option.line, text })
      } else
        notes.push({ line: option.line, text: `${option.name} is not an option that is known` })
    }
  }
  if (rules.length > 0)
    notes.push({
      text: 'calls: consume(key, points) becomes check(key, cost), whose answer says allowed instead of rejecting; penalty is a check, reward is refund, get is peek, delete is reset',
    })
  return { policies: rules.length === 0 ? [] : [{ name: 'api', rules }], notes, edits: [] }
}

const KINDS: Readonly<Record<string, string>> = {
  RateLimiterUnion: 'write one policy with both rules: all of them are charged, or none',
  BurstyRateLimiter: 'write one limit with a burst',
  RateLimiterQueue: 'write algorithm: leaky-bucket, which delays requests',
  RLWrapperBlackAndWhite:
    'write overrides: unlimited for the white list, quota 0 for the black one',
}

function isWhole(option: CallOption | undefined): option is CallOption & { value: number } {
  return Number.isSafeInteger(option?.value) && (option!.value as number) >= 0
}
