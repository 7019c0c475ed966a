import { describe, expect, it } from 'vitest'
import { fieldsAt } from './fields.ts'
import { file } from './file.ts'

describe('the fields that a shape knows', () => {
  it.each([
    ['', ['policies', 'store', 'listeners']],
    ['listeners', ['http', 'grpc']],
    ['listeners.grpc', ['host', 'port']],
    ['store', ['kind', 'maxKeys', 'url']],
    ['failure', ['fallbackShare', 'replicas']],
    ['shutdown', ['delay', 'patience']],
  ])('at %s', (path, fields) => {
    const found = fieldsAt(file, path.split('.').filter(Boolean))
    expect(found.slice(0, fields.length)).toEqual(fields)
  })

  it.each(['log', 'policies', 'nothing', 'nothing.more', 'proxy.attributes', 'constructor'])(
    'are none at %s',
    (path) => {
      expect(fieldsAt(file, path.split('.'))).toEqual([])
    },
  )
})
