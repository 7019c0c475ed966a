// The part of fzstd that is used, for checkouts in which it is not installed yet.
declare module 'fzstd' {
  export class Decompress {
    constructor(onData: (data: Uint8Array) => void)
    push(chunk: Uint8Array, isLast?: boolean): void
  }
}
