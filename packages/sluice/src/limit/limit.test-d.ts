import { describe, expectTypeOf, it } from 'vitest'
import { limit, type Limit, type LimitInput, type RateText } from './limit.ts'

describe('a rate as a string', () => {
  it('compiles, also if it comes from elsewhere', () => {
    expectTypeOf<'100/min'>().toExtend<RateText>()
    expectTypeOf<'5/10s'>().toExtend<RateText>()
    expectTypeOf<'1000/1h'>().toExtend<RateText>()
    expectTypeOf<'1/40d'>().toExtend<RateText>()
    expectTypeOf<'100/minute'>().toExtend<RateText>()
    expectTypeOf<'100/15minutes'>().toExtend<RateText>()
    expectTypeOf(limit('100/min', { burst: 200, algorithm: 'gcra' })).toEqualTypeOf<Limit>()
  })

  it('may be any string, which is checked at run time', () => {
    expectTypeOf(limit('100/min' as string)).toEqualTypeOf<Limit>()
    expectTypeOf<string>().toExtend<RateText>()
    // @ts-expect-error a number has no window
    limit(100)
  })

  it('keeps its literals, which editors suggest', () => {
    expectTypeOf<string extends RateText ? '100/min' : never>().toExtend<RateText>()
    expectTypeOf<Extract<RateText, '100/min'>>().toEqualTypeOf<'100/min'>()
  })
})

describe('limits in parts', () => {
  it('need a quota, and nothing that is not known', () => {
    expectTypeOf<{ quota: 1; window: '1h' }>().toExtend<LimitInput>()
    expectTypeOf<Limit>().toExtend<LimitInput>()
    // @ts-expect-error no such algorithm
    limit({ quota: 1, window: '1h', algorithm: 'magic' })
    // @ts-expect-error a typing mistake
    limit({ quota: 1, window: '1h', brust: 2 })
    // @ts-expect-error not a duration
    limit({ quota: 1, window: '1 parsec' })
  })

  it('cannot be changed once made', () => {
    expectTypeOf<Limit>().toEqualTypeOf<Readonly<Limit>>()
    // @ts-expect-error read only
    limit('1/s').quota = 2
  })
})
