// The public test kit: a clock under control, the conformance suite for stores, the runner for vectors.
export { fakeClock, type FakeClock } from './fake-clock.ts'
export { fakeTimers, type FakeTimers } from './fake-timers.ts'
export { testStore, type StoreCase, type StoreUnderTest } from './test-store.ts'
export {
  runVectorCase,
  type VectorCase,
  type VectorFile,
  type VectorStep,
  type VectorSubject,
} from './vectors.ts'
