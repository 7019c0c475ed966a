// `sluice/budgets`: reserve what a request may cost and settle what it did cost; slots for requests at once.
export { createBudget, type BudgetFor, type BudgetOptions } from './create-budget.ts'
export type { Budget, Reservation, Slot, SyncBudget, Usage } from './budget.ts'
export type { SettledRule, Settlements } from './settlements.ts'
export { reservationData, reservationPolicy, type ReservationData } from './reservation-id.ts'
export { withHolds, type MemoryHoldStore } from '../stores/holds/with-holds.ts'
export type {
  Exchanged,
  HoldStore,
  Settled,
  SettledStatus,
  Settlement,
  SyncHoldStore,
} from '../stores/holds/hold-store.ts'
export type { Hold } from '../stores/store.ts'
