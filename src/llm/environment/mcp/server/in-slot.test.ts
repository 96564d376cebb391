import { expect, test } from 'vitest'
import { inSlot } from './pooled-server.ts'
import type { Service } from './service-process.ts'

const service: Service = {
  places: { service: 'postgresql://127.0.0.1:9/slot', port: '9' },
  env: { DATABASE_URL: 'postgresql://127.0.0.1:9/slot', PGPORT: '9' },
  reset: async () => {},
  close: async () => {},
}

test("a service replaces the server's own database, but for values that name the service", () => {
  const env = { DATABASE_URL: 'postgresql://production/shop', PGPORT: '1{port}', LOG: 'debug' }
  const config = { reset: 'slot', observe: [] } as const
  const server = { command: 'serve', args: ['--to', '{service}'], env }
  expect(inSlot(server, { ...config, observe: [] }, '/slot', service)).toMatchObject({
    args: ['--to', 'postgresql://127.0.0.1:9/slot'],
    env: { DATABASE_URL: 'postgresql://127.0.0.1:9/slot', PGPORT: '19', LOG: 'debug' },
  })
  const named = { ...config, observe: [], env: { DATABASE_URL: 'mine' } }
  expect(inSlot(server, named, '/slot', service)).toMatchObject({ env: { DATABASE_URL: 'mine' } })
  expect(inSlot(server, { ...config, observe: [] }, '/slot', undefined)).toMatchObject({
    env: { DATABASE_URL: 'postgresql://production/shop' },
  })
})
