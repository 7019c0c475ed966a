// Makes the definitions of spec/protos as gRPC reflection hands them out: file descriptors, encoded.
import { loadSync } from '@grpc/proto-loader'
import { root } from './run.mjs'

const files = ['envoy/service/ratelimit/v3/rls.proto', 'grpc/health/v1/health.proto']

/**
 * What is read here of a file's description.
 * @typedef {{ name: string, package: string, dependency?: string[], message_type?: Message[] }} File
 * @typedef {{ field?: { type_name?: string }[], nested_type?: Message[] }} Message
 * @typedef {{ serialize(file: File): Buffer, deserialize(bytes: Buffer): File }} Codec
 */

/** The content of packages/server/src/envoy/grpc/descriptors.generated.ts. */
export async function makeProtoDescriptors() {
  const options = { keepCase: true, defaults: false }
  const description = loadSync('google/protobuf/descriptor.proto', options)
  const codec = /** @type {Codec} */ (
    /** @type {unknown} */ (description['google.protobuf.FileDescriptorProto'])
  )
  /** @type {Map<string, File>} */
  const byPackage = new Map()
  for (const definition of Object.values(
    loadSync(files, { keepCase: true, includeDirs: [`${root}spec/protos`] }),
  )) {
    const { fileDescriptorProtos = [] } = /** @type {{ fileDescriptorProtos?: Buffer[] }} */ (
      definition
    )
    for (const bytes of fileDescriptorProtos) {
      const file = codec.deserialize(bytes)
      byPackage.set(file.package, file)
    }
  }
  const lines = [...byPackage.values()].map((file) => {
    const whole = { ...file, dependency: dependenciesOf(file, byPackage) }
    return `  '${codec.serialize(whole).toString('base64')}',`
  })
  return [
    '// Generated from spec/protos by `npm run generate`. Do not edit.',
    '',
    '/** Each file as a FileDescriptorProto in base64. */',
    'export const FILE_DESCRIPTORS: readonly string[] = [',
    ...lines.toSorted(),
    ']',
    '',
  ].join('\n')
}

/**
 * The files whose types a file mentions, which the loader leaves out.
 * @param {File} file
 * @param {Map<string, File>} byPackage
 */
function dependenciesOf(file, byPackage) {
  const types = (file.message_type ?? []).flatMap(typesOf)
  const others = [...byPackage.values()].filter(
    (other) => other !== file && types.some((type) => type.startsWith(`${other.package}.`)),
  )
  return others.map(({ name }) => name).toSorted()
}

/** @param {Message} message @returns {string[]} */
function typesOf({ field = [], nested_type = [] }) {
  return [...field.map(({ type_name }) => type_name ?? ''), ...nested_type.flatMap(typesOf)]
}
