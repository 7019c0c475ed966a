// Express 4 beside 5: it has no types of its own, and those of 5 fit what the tests use.
declare module 'express4' {
  import express from 'express'
  export default express
}
