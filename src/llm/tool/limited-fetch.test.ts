import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { limitedFetch } from './limited-fetch.ts'

test('an answer is read up to a limit, also one that is compressed, and keeps its status', async () => {
  const http = createServer((request, response) => {
    if (request.url === '/bomb')
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(11_000_000)))
    else if (request.url === '/moved') response.writeHead(307, { location: '/' }).end()
    else response.writeHead(418, { 'x-a': 'b' }).end('short and ä'.repeat(2000))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void http.close())
  const at = (path: string): string => `http://127.0.0.1:${(http.address() as AddressInfo).port}${path}`
  const short = await limitedFetch(at('/'))
  expect([short.status, short.headers.get('x-a')]).toEqual([418, 'b'])
  expect(await short.text()).toBe('short and ä'.repeat(2000))
  await expect((await limitedFetch(at('/bomb'))).text()).rejects.toThrow('it sent more than 10000000 bytes')
  expect((await limitedFetch(at('/moved'), { redirect: 'manual' })).status).toBe(307)
})
