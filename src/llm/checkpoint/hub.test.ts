import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { writeTinyCheckpoint } from '../agent/testing/tiny-checkpoint.ts'
import { loadModel } from '../backend/base-model.ts'
import { downloadModel } from './hub.ts'

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-hub-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A hub with one model, `acme/tiny`, by the paths of the API that the client of the hub asks for. */
async function serveHub(
  change: (file: string, bytes: Buffer, response: ServerResponse) => Buffer | undefined = (_, bytes) => bytes,
): Promise<{ hubUrl: string; asked: string[]; model: string }> {
  const model = await writeTinyCheckpoint(temporary())
  const asked: string[] = []
  const entries = readdirSync(model).map((path) => {
    const bytes = readFileSync(join(model, path))
    const oid = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
    const lfs = {
      oid: createHash('sha256').update(bytes).digest('hex'),
      size: bytes.length,
      pointerSize: 130,
    }
    return { type: 'file', path, size: bytes.length, oid, ...(path.endsWith('.safetensors') && { lfs }) }
  })
  const answer = ({ url = '', headers }: IncomingMessage, response: ServerResponse): void => {
    if (url.startsWith('/api/models/acme/tiny/tree/main')) {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify([...entries, { type: 'file', path: '../escape.json', size: 2, oid: 'x' }]))
      return
    }
    const file = /^\/acme\/tiny\/resolve\/main\/([\w.-]+)$/.exec(url)?.[1]
    if (file === undefined) return void response.writeHead(404).end('{}')
    const whole = readFileSync(join(model, file))
    const [, from, to] = /bytes=(\d+)-(\d*)/.exec(headers.range ?? '') ?? ['', '0', '']
    const end = to === '' ? whole.length - 1 : Math.min(Number(to), whole.length - 1)
    if (end > 0) asked.push(`${file} from ${from}`)
    response.setHeader('etag', '"x"')
    response.writeHead(206, { 'content-range': `bytes ${from}-${end}/${whole.length}` })
    const sent = change(file, whole.subarray(Number(from), end + 1), response)
    if (sent !== undefined) response.end(sent)
  }
  const server = createServer(answer)
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { hubUrl: `http://127.0.0.1:${port}`, asked, model }
}

test('a model of a hub is downloaded once, checked and loaded', async () => {
  const { hubUrl, asked, model } = await serveHub()
  const cache = temporary()
  const folder = await downloadModel('acme/tiny', { hubUrl, cache })
  expect(readFileSync(join(folder, 'model.safetensors'))).toEqual(
    readFileSync(join(model, 'model.safetensors')),
  )
  const { backend } = await loadModel(folder)
  await backend.dispose()
  const before = asked.length
  expect(await downloadModel('acme/tiny', { hubUrl: 'http://127.0.0.1:1', cache })).toBe(folder)
  expect(asked.length).toBe(before)
  expect(readdirSync(cache)).toEqual(['acme--tiny'])
})

test('a download that broke off goes on where it ended', async () => {
  let cuts = 1
  const cache = temporary()
  const partial = join(cache, 'acme--tiny', 'model.safetensors.partial')
  const { hubUrl, asked } = await serveHub((file, bytes, response) => {
    if (file !== 'model.safetensors' || bytes.length < 10 || cuts-- <= 0) return bytes
    response.write(bytes.subarray(0, 1000))
    const watch = setInterval(() => {
      if (!existsSync(partial) || statSync(partial).size === 0) return
      clearInterval(watch)
      response.destroy()
    }, 10)
    return undefined
  })
  await expect(downloadModel('acme/tiny', { hubUrl, cache, retries: 0 })).rejects.toMatchObject({
    code: 'hub-unreachable',
    expected: expect.stringContaining(join(cache, 'acme--tiny')) as string,
  })
  const have = statSync(partial).size
  expect(have).toBeGreaterThan(0)
  const folder = await downloadModel('acme/tiny', { hubUrl, cache, retries: 0 })
  expect(asked).toContain(`model.safetensors from ${have}`)
  expect(existsSync(join(folder, 'model.safetensors.partial'))).toBe(false)
  const { backend } = await loadModel(folder)
  await backend.dispose()
})

test('a download that lacks its last file is not taken for a model that somebody put there', async () => {
  let isDown = true
  const { hubUrl } = await serveHub((file, bytes, response) => {
    if (file !== 'tokenizer_config.json' || !isDown) return bytes
    response.destroy()
    return undefined
  })
  const options = { hubUrl, cache: temporary(), retries: 0 }
  await expect(downloadModel('acme/tiny', options)).rejects.toMatchObject({ code: 'hub-unreachable' })
  isDown = false
  expect(readdirSync(await downloadModel('acme/tiny', options))).toEqual(
    expect.arrayContaining(['tokenizer_config.json', 'checksums.sha256']),
  )
})

test.each(['model.safetensors', 'config.json'])(
  'a %s that differs from its checksum is refused',
  async (damaged) => {
    const { hubUrl } = await serveHub((file, bytes) => {
      if (file !== damaged || bytes.length < 10) return bytes
      const other = Buffer.from(bytes)
      other[other.length >> 1] ^= 1
      return other
    })
    const cache = temporary()
    await expect(downloadModel('acme/tiny', { hubUrl, cache })).rejects.toMatchObject({
      code: 'bad-checkpoint',
    })
    const left = readdirSync(join(cache, 'acme--tiny'))
    expect(left).not.toContain(damaged)
    expect(left).not.toContain('checksums.sha256')
  },
)

test('without a network, the message says which files to put where, and then they are used', async () => {
  const cache = temporary()
  const place = join(cache, 'acme--tiny')
  const options = { hubUrl: 'http://127.0.0.1:1', cache, retries: 0 }
  await expect(downloadModel('acme/tiny', options)).rejects.toMatchObject({
    code: 'hub-unreachable',
    expected: expect.stringContaining(`these files in ${place}: config.json, tokenizer.json`) as string,
  })
  rmSync(place, { recursive: true })
  renameSync(await writeTinyCheckpoint(cache), place)
  expect(await downloadModel('acme/tiny', options)).toBe(place)
})

test('a name that the hub does not have is said so', async () => {
  const { hubUrl } = await serveHub()
  const cache = temporary()
  await expect(downloadModel('acme/other', { hubUrl, cache })).rejects.toMatchObject({
    code: 'unknown-model',
  })
})
