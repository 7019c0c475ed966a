// Ends a property at its first counterexample: the smallest one of a mutant is of no use.
import fc from 'fast-check'

fc.configureGlobal({ endOnFailure: true })
