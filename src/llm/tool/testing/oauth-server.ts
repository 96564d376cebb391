import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

export interface OAuthServer {
  /** The endpoint of the MCP server, which accepts only tokens of this authorisation server. */
  url: string
  origin: string
  /** What the token endpoint was asked for, in order. */
  grants: string[]
  /** Tokens issued so far. */
  tokens: string[]
  /** From now on, no token issued so far is accepted. */
  expire(): void
  close(): void
}

/** An authorisation server (registration, PKCE, refresh, client credentials) with an MCP server behind it. */
export async function startOAuthServer(
  options: { clients?: Record<string, string>; denies?: boolean } = {},
): Promise<OAuthServer> {
  const clients = new Map(Object.entries(options.clients ?? {}))
  const codes = new Map<string, { challenge: string; redirect: string }>()
  const valid = new Set<string>()
  const refresh = new Set<string>()
  const grants: string[] = []
  const tokens: string[] = []
  let origin = ''
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'guarded', version: '1' })
    server.registerTool('tokens', { inputSchema: z.object({}) }, () => ({
      content: [{ type: 'text', text: `issued: ${tokens.join(' ')}` }],
    }))
    return server
  })

  const issue = (): object => {
    const [access, next] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`]
    valid.add(access)
    refresh.add(next)
    tokens.push(access)
    return { access_token: access, refresh_token: next, token_type: 'Bearer', expires_in: 3600 }
  }

  function token(request: IncomingMessage, form: URLSearchParams): object | string {
    const grant = form.get('grant_type') ?? ''
    grants.push(grant)
    if (grant === 'client_credentials') {
      const [, basic] = /^Basic (.+)$/.exec(request.headers.authorization ?? '') ?? []
      const [id, secret] = Buffer.from(basic ?? '', 'base64')
        .toString()
        .split(':')
      return clients.get(id) === secret ? issue() : 'invalid_client'
    }
    if (grant === 'refresh_token')
      return refresh.delete(form.get('refresh_token') ?? '') ? issue() : 'invalid_grant'
    const code = codes.get(form.get('code') ?? '')
    const proof = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    return code?.challenge === proof && code.redirect === form.get('redirect_uri') ? issue() : 'invalid_grant'
  }

  function authorise(url: URL, response: ServerResponse): void {
    const redirect = new URL(url.searchParams.get('redirect_uri') ?? '')
    redirect.searchParams.set('state', url.searchParams.get('state') ?? '')
    if (options.denies === true) redirect.searchParams.set('error', 'access_denied')
    else {
      const code = randomUUID()
      codes.set(code, {
        challenge: url.searchParams.get('code_challenge') ?? '',
        redirect: url.searchParams.get('redirect_uri') ?? '',
      })
      redirect.searchParams.set('code', code)
    }
    response.writeHead(302, { location: redirect.href }).end()
  }

  async function serveTools(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const given = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
    if (given === undefined || !valid.has(given)) {
      const place = `${origin}/.well-known/oauth-protected-resource`
      response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${place}"` }).end()
      return
    }
    const answer = await handler.fetch(
      new Request(`${origin}${request.url}`, {
        method: request.method ?? 'GET',
        headers: Object.entries(request.headers).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]),
        ...(body.length === 0 ? {} : { body }),
      }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (answer.body === null) response.end()
    else Readable.fromWeb(answer.body).pipe(response)
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const url = new URL(request.url ?? '/', origin)
    const json = (value: object, status = 200): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    }
    if (url.pathname === '/mcp') return serveTools(request, body, response)
    if (url.pathname.startsWith('/.well-known/oauth-protected-resource'))
      return json({ resource: `${origin}/mcp`, authorization_servers: [origin] })
    if (url.pathname.startsWith('/.well-known/'))
      return json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
        token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
      })
    if (url.pathname === '/register')
      return json({ ...(JSON.parse(body.toString()) as object), client_id: randomUUID() }, 201)
    if (url.pathname === '/authorize') return authorise(url, response)
    if (url.pathname === '/token') {
      const issued = token(request, new URLSearchParams(body.toString()))
      return typeof issued === 'string' ? json({ error: issued }, 400) : json(issued)
    }
    json({ error: 'not found' }, 404)
  }

  const http = createServer((request, response) => void serve(request, response))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  return {
    url: `${origin}/mcp`,
    origin,
    grants,
    tokens,
    expire: () => valid.clear(),
    close() {
      http.closeAllConnections()
      http.close()
    },
  }
}
