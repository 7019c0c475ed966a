// The descriptors of Envoy's rate limit service in words, for people.
import type { DescriptorConfig, DomainConfig } from '../envoy/descriptors/domain-config.ts'

/** One line for the domain, and one below it for every descriptor with a limit. */
export function describeDomain({ domain, descriptors }: DomainConfig): readonly string[] {
  const rows = descriptors.flatMap((descriptor) => rowsOf(descriptor, ''))
  const width = rows.reduce((most, [path]) => Math.max(most, path.length), 0)
  return [
    `domain ${domain}`,
    ...rows.map(([path, meaning]) => `  ${path.padEnd(width)}  ${meaning}`),
  ]
}

function rowsOf(descriptor: DescriptorConfig, before: string): [path: string, meaning: string][] {
  const { key, value, descriptors = [] } = descriptor
  const path = `${before}${key}${value === undefined || value === '' ? '' : `=${value}`}`
  const meaning = meaningOf(descriptor)
  return [
    ...(meaning === undefined ? [] : [[path, meaning] satisfies [string, string]]),
    ...descriptors.flatMap((inner) => rowsOf(inner, `${path} > `)),
  ]
}

function meaningOf(descriptor: DescriptorConfig): string | undefined {
  const { value = '', rateLimit, shadowMode, quotaMode, shareThreshold } = descriptor
  if (rateLimit === undefined) return undefined
  const { requestsPerUnit = 0, unit, unlimited, name, replaces = [] } = rateLimit
  const isEach = (value === '' || value.endsWith('*')) && shareThreshold !== true
  const limit = unlimited === true ? 'unlimited' : `${requestsPerUnit}/${unit}`
  return [
    isEach && unlimited !== true ? `${limit} for each value` : limit,
    ...(name === undefined || name === '' ? [] : [`named ${name}`]),
    ...(replaces.length === 0 ? [] : [`replaces ${replaces.join(', ')}`]),
    ...(shadowMode === true ? ['shadow: counted, never enforced'] : []),
    ...(quotaMode === true ? ['quota: reported, never enforced'] : []),
  ].join('; ')
}
