// What controllers and their methods say about limits.
import { SetMetadata, UseGuards, type CustomDecorator } from '@nestjs/common'
import { SluiceError } from 'sluice'
import type { AnyLimiter, HttpOptions, RateLimitOptions } from 'sluice/http'
import { COST, SKIP } from './marks.ts'
import type { NestRequest, NestResponse } from './nest-adapter.ts'
import { rateLimit } from './rate-limit.ts'

/** Limits a controller or a method, beside what limits it already: `@RateLimit({ limit: '5/min' })`. */
export function RateLimit<Q extends NestRequest, S extends NestResponse>(
  limiter: AnyLimiter | RateLimitOptions<Q, S>,
  options?: HttpOptions<Q, S>,
): ClassDecorator & MethodDecorator {
  return UseGuards(rateLimit(limiter, options))
}

/** The units that one request of a controller or a method costs, a whole number: `@Cost(5)`. */
export function Cost(units: number): CustomDecorator {
  if (!Number.isSafeInteger(units) || units < 0)
    throw new SluiceError(
      'invalid-cost',
      `@Cost: ${units} is no cost; accepted: whole numbers from 0`,
    )
  return SetMetadata(COST, units)
}

/** Lets requests of a controller or a method through uncounted; `@SkipRateLimit(false)` on a method counts them again. */
export function SkipRateLimit(skip = true): CustomDecorator {
  return SetMetadata(SKIP, skip)
}
