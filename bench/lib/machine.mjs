// What a result was measured on, as far as it helps to compare two results.
import { cpus, loadavg } from 'node:os'

/** Runtime, processor and how busy the machine is right now. */
export function machine() {
  const processors = cpus()
  return {
    node: process.versions.node,
    v8: process.versions.v8,
    platform: `${process.platform} ${process.arch}`,
    processor: processors[0]?.model ?? 'unknown',
    cores: processors.length,
    loadAverage: Number((loadavg()[0] ?? 0).toFixed(1)),
  }
}
