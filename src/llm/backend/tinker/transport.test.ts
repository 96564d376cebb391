import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createTinkerBackend } from './tinker-backend.ts'

async function listen(answer: (url: string) => { status: number; location?: string; body?: string }) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${String(request.headers['x-api-key'])}`)
    const { status, location, body = '{}' } = answer(request.url ?? '')
    response.writeHead(status, location === undefined ? {} : { location })
    response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test.each([301, 302, 307, 308])(
  'a request that is sent on (%i) goes nowhere with its key',
  async (status) => {
    const other = await listen(() => ({ status: 200 }))
    const first = await listen((path) => ({ status, location: `${other.url}${path}` }))
    const opening = createTinkerBackend({ baseUrl: first.url, apiKey: 'tml-secret', patienceSeconds: 0.2 })
    await expect(opening).rejects.toMatchObject({
      code: 'tinker-refused',
      message: expect.stringContaining(`HTTP ${status}`),
      hint: expect.stringMatching(new RegExp(`${other.url}$`)),
    })
    expect(first.asked).toHaveLength(1)
    expect(other.asked).toEqual([])
  },
)

test('an answer that is nested deeper than any reader can go is none', async () => {
  const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
  const server = await listen(() => ({ status: 200, body: deep }))
  const opening = createTinkerBackend({ baseUrl: server.url, patienceSeconds: 0.2 })
  await expect(opening).rejects.toMatchObject({ code: 'tinker-bad-answer' })
})
