// Ends a property at its first counterexample: nobody reads the smallest one of a mutant.
import fc from 'fast-check'

fc.configureGlobal({ endOnFailure: true })
