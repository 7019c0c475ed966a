// The shape of `tls`, the same for every listener.
import { z } from 'zod'
import { oneOf, text } from './values.ts'

const path = text('the path of a PEM file')

export const tls = z
  .strictObject(
    {
      cert: path.describe('The certificate, followed by those between it and the root.'),
      key: path.describe('Its private key, without a passphrase.'),
      ca: path.describe('The certificates that may have signed a client’s.').exactOptional(),
      clients: oneOf(['required', 'optional'])
        .describe('Whether a client must show a certificate; required when ca is given.')
        .exactOptional(),
      clientNames: z
        .array(text('a name in a certificate'))
        .min(1, { error: 'a list of at least one name' })
        .describe('Names of which a client’s certificate must have one, letter for letter.')
        .exactOptional(),
      minVersion: oneOf(['TLSv1.2', 'TLSv1.3'])
        .describe('The oldest TLS version that is accepted.')
        .default('TLSv1.2'),
    },
    { error: 'an object with cert and key' },
  )
  .refine(({ ca, clients }) => clients === undefined || ca !== undefined, {
    error: 'clients together with ca, the certificates that theirs are checked against',
    path: ['clients'],
  })
  .refine(({ ca, clientNames }) => clientNames === undefined || ca !== undefined, {
    error:
      'clientNames together with ca, the certificates that those of clients are checked against',
    path: ['clientNames'],
  })
