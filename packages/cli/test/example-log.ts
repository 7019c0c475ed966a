// The access log of the guide: a day of a small shop, with an office behind one address and a crawler that hurries.
const START = Date.UTC(2026, 4, 17)
const AGENTS = ['Firefox/138.0', 'Chrome/136.0', 'Safari/18.4', 'Edge/136.0']

/** The lines of the log, in the order of time. */
export function exampleLog(): string {
  let seed = 3
  const random = (): number => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32
  const requests: [at: number, ip: string, path: string, agent: string][] = []
  const visit = (at: number, ip: string, pages: number, pause: number, agent: string): void => {
    for (let i = 0; i < pages; i++) {
      requests.push([at, ip, `/articles/${Math.floor(random() * 500)}`, agent])
      at += Math.ceil(random() * pause) * 1000
    }
  }
  // People: a visit or two of some pages.
  for (let i = 0; i < 240; i++)
    for (let visits = 0; visits < 2; visits++) {
      const at = START + Math.floor((8 + random() * 14) * 3600) * 1000
      visit(at, `198.51.100.${i}`, 3 + Math.floor(random() * 12), 20, AGENTS[i % 4]!)
    }
  // An office: forty people, one address.
  for (let i = 0; i < 40; i++) {
    const at = START + Math.floor((9 + random() * 8) * 3600) * 1000
    visit(at, '203.0.113.7', 5 + Math.floor(random() * 10), 20, `${AGENTS[i % 4]} build ${i}`)
  }
  // A crawler, twice an hour.
  for (let hour = 0; hour < 24; hour++)
    visit(START + hour * 3_600_000 + 600_000, '192.0.2.66', 60, 1, 'ExampleBot/1.0')
  return requests
    .toSorted(([a], [b]) => a - b)
    .map(([at, ip, path, agent]) => {
      const time = new Date(at).toISOString().slice(11, 19)
      return `${ip} - - [${new Date(at).getUTCDate()}/May/2026:${time} +0000] "GET ${path} HTTP/1.1" 200 5120 "-" "${agent}"\n`
    })
    .join('')
}
