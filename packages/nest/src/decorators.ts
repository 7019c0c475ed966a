// Decorators that say what controllers and their methods limit.
import { SetMetadata, UseGuards, type CustomDecorator } from '@nestjs/common'
import { SluiceError } from 'sluice'
import type { AnyLimiter, HttpOptions, RateLimitOptions } from 'sluice/http'
import type { NestRequest, NestResponse } from './nest-adapter.ts'
import { COST, rateLimit, SKIP } from './rate-limit-guard.ts'

/** Limits a controller or a method, in addition to other limits on it: `@RateLimit({ limit: '5/min' })`. */
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

/** Lets requests of a controller or a method go on uncounted; `@SkipRateLimit(false)` on a method counts them again. */
export function SkipRateLimit(skip = true): CustomDecorator {
  return SetMetadata(SKIP, skip)
}
