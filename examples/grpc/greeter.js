// A service of one method, written down by hand: texts in, texts out. Yours comes from a .proto file.

const text = {
  /** @param {string} value */
  to: (value) => Buffer.from(value),
  /** @param {Buffer} bytes */
  from: (bytes) => bytes.toString(),
}

export const greeter = {
  greet: {
    path: '/example.Greeter/Greet',
    requestStream: false,
    responseStream: false,
    requestSerialize: text.to,
    requestDeserialize: text.from,
    responseSerialize: text.to,
    responseDeserialize: text.from,
  },
}
