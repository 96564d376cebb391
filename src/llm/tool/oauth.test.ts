import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connectServer, type McpConnection } from './mcp-client.ts'
import { openSignIn, type SignInOptions } from './oauth.ts'
import { readServerConfig, type HttpServerConfig } from './server-config.ts'
import { startOAuthServer } from './testing/oauth-server.ts'

type Options = Parameters<typeof startOAuthServer>[0]

async function start(options?: Options): ReturnType<typeof startOAuthServer> {
  const server = await startOAuthServer(options)
  onTestFinished(() => server.close())
  return server
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-oauth-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function connect(config: HttpServerConfig, signIn: SignInOptions = {}): Promise<McpConnection> {
  const connection = await connectServer(config, { signIn, connectSeconds: 30 })
  onTestFinished(() => connection.close())
  return connection
}

/** Stands for the person: opens the address and follows the redirect to this machine. */
const agree =
  (seen: string[] = []) =>
  (address: string): void => {
    seen.push(address)
    void fetch(address)
  }

test('client credentials: one token serves all connections, and results do not show it', async () => {
  const server = await start({ clients: { robot: 'sesame-open' } })
  const config = {
    url: server.url,
    oauth: { clientId: 'robot', clientSecret: 'sesame-open', issuer: server.origin },
  }
  const [first, second] = [await connect(config), await connect(config)]
  expect((await first.call('tokens', {})).text).toBe('issued: [redacted]')
  expect((await second.call('tokens', {})).text).toBe('issued: [redacted]')
  expect(server.grants).toEqual(['client_credentials'])
  server.expire()
  expect((await first.call('tokens', {})).isError).toBe(false)
  expect(server.grants).toEqual(['client_credentials', 'client_credentials'])
})

test('client credentials that the server refuses are an error that does not quote them', async () => {
  const server = await start({ clients: { robot: 'sesame-open' } })
  const oauth = { clientId: 'robot', clientSecret: 'wrong-secret', issuer: server.origin }
  const failed = connect({ url: server.url, oauth })
  await expect(failed).rejects.toThrow()
  await expect(failed).rejects.not.toThrow('wrong-secret')
})

test('client credentials name who may receive them', async () => {
  const config = { url: 'http://127.0.0.1:1/mcp', oauth: { clientId: 'robot', clientSecret: 'sesame-open' } }
  await expect(connect(config)).rejects.toMatchObject({ code: 'bad-mcp-config', given: 'no "issuer"' })
})

test('a person agrees once; tokens are stored for the user alone, and refreshed', async () => {
  const server = await start()
  const folder = temporaryFolder()
  const asked: string[] = []
  const config = { url: server.url, oauth: {} }
  const first = await connect(config, { folder, onAddress: agree(asked) })
  expect((await first.call('tokens', {})).text).toBe('issued: [redacted]')
  const [file] = readdirSync(folder)
  expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(folder, file), 'utf8')).toContain(server.tokens[0])
  const second = await connect(config, { folder, onAddress: agree(asked) })
  expect((await second.call('tokens', {})).isError).toBe(false)
  expect(asked).toHaveLength(1)
  server.expire()
  await connect(config, { folder, onAddress: agree(asked) })
  expect(asked).toHaveLength(1)
  expect(server.grants).toEqual(['authorization_code', 'refresh_token'])
})

test('a person who declines, and one who does not come, end with a sentence', async () => {
  const refusing = await start({ denies: true })
  await expect(
    connect({ url: refusing.url, oauth: {} }, { folder: temporaryFolder(), onAddress: agree() }),
  ).rejects.toMatchObject({ code: 'sign-in-failed', given: 'access_denied' })
  const server = await start()
  await expect(
    connect({ url: server.url, oauth: {} }, { folder: temporaryFolder(), onAddress: () => {}, seconds: 0.2 }),
  ).rejects.toMatchObject({ code: 'sign-in-failed', given: 'no answer in 0.2 s' })
})

test('an answer with another state is refused', async () => {
  const server = await start()
  const forge = (address: string): void => {
    const redirect = new URL(new URL(address).searchParams.get('redirect_uri') ?? '')
    redirect.search = 'code=stolen&state=guessed'
    void fetch(redirect)
  }
  await expect(
    connect({ url: server.url, oauth: {} }, { folder: temporaryFolder(), onAddress: forge }),
  ).rejects.toMatchObject({ code: 'sign-in-failed', given: 'an answer of another sign-in' })
  expect(server.grants).toEqual([])
})

test('tokens are hidden in their other encodings, and after another connection refreshed them', async () => {
  const server = await start()
  const folder = temporaryFolder()
  const config = { url: server.url, oauth: {} }
  const first = await openSignIn(config, {}, { folder })
  onTestFinished(() => first.close())
  await connect(config, { folder, onAddress: agree() })
  await first.provider.tokens()
  const [token] = server.tokens
  const base64 = Buffer.from(token).toString('base64')
  expect(first.hide(`${token} ${base64}`)).not.toMatch(new RegExp(`${token}|${base64.slice(0, 20)}`))
})

test('a redirect port that is taken is an error, not another port', async () => {
  const server = await start()
  const taken = Number(new URL(server.origin).port)
  await expect(
    connect({ url: server.url, oauth: { redirectPort: taken } }, { folder: temporaryFolder() }),
  ).rejects.toMatchObject({ code: 'port-taken' })
})

test('without an "oauth" entry the error names it', async () => {
  const server = await start()
  await expect(connect({ url: server.url })).rejects.toMatchObject({
    hint: expect.stringContaining('"oauth": true') as string,
  })
})

test('the "oauth" entry of .mcp.json', () => {
  const folder = temporaryFolder()
  const read = (oauth: unknown): unknown => {
    writeFileSync(
      join(folder, '.mcp.json'),
      JSON.stringify({ mcpServers: { crm: { url: 'https://example.com/mcp', oauth } } }),
    )
    const config = readServerConfig('crm', { folder, environment: { SECRET: 'hidden-value' } })
    return (config as HttpServerConfig).oauth
  }
  expect(read(true)).toEqual({})
  expect(read({ clientId: 'a', clientSecret: '${SECRET}', scope: 'read' })).toEqual({
    clientId: 'a',
    clientSecret: 'hidden-value',
    scope: 'read',
  })
  expect(() => read('yes')).toThrow('wrong "oauth"')
  expect(() => read({ grant: 'password' })).toThrow('wrong "oauth.grant"')
  expect(() => read({ redirectPort: 70_000 })).toThrow('wrong "oauth.redirectPort"')
  expect(() => read({ clientid: 'a' })).toThrow('wrong "oauth.clientid"')
})
