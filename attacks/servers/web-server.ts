// A hostile server over HTTP in a process of its own, and an address to which it would send requests on.
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type Place, writeConfig } from './prepare.ts'

const program = fileURLToPath(new URL('http-server.mjs', import.meta.url))

export interface WebServer {
  /** Whether the other address got a request with the key. */
  sentOn(): boolean
  close(): Promise<void>
}

/** Starts the server of a mode, and writes its address and its key into the `.mcp.json` of the place. */
export async function startWebServer(mode: string, { folder, secrets, begun }: Place): Promise<WebServer> {
  const [key] = secrets
  let sentOn = false
  const other = createServer(({ headers }, response) => {
    if (JSON.stringify(headers).includes(key)) sentOn = true
    response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const child = spawn(process.execPath, [program, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      HOSTILE_PASSPHRASE: key,
      HOSTILE_BEGUN: begun,
      HOSTILE_PORT: String((other.address() as AddressInfo).port),
    },
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', (text: string) => resolve(Number(text)))
    child.once('exit', () => reject(new Error(`the server of ${mode} did not start`)))
  })
  writeConfig(folder, {
    url: `http://127.0.0.1:${port}/mcp`,
    headers: { Authorization: `Bearer ${key}` },
  })
  return {
    sentOn: () => sentOn,
    async close() {
      child.kill('SIGKILL')
      await exited
      other.closeAllConnections()
      await new Promise((resolve) => other.close(resolve))
    },
  }
}
