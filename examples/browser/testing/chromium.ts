import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

/** Finds Chromium: AGOGE_CHROMIUM, else the first of the usual names in PATH. */
export function findChromium(): string | undefined {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  const candidates = folders.flatMap((folder) => names.map((name) => join(folder, name)))
  return process.env['AGOGE_CHROMIUM'] ?? candidates.find((path) => existsSync(path))
}

/** A page of a headless Chromium. */
export interface Page {
  /** Errors in the page: exceptions, and logged errors and warnings. */
  readonly troubles: readonly string[]
  /** Evaluates an expression in the page and awaits a promise. */
  readonly evaluate: <T>(expression: string) => Promise<T>
  /** A screenshot as a PNG file. */
  readonly screenshot: () => Promise<Buffer>
  readonly close: () => Promise<void>
}

interface Message {
  id?: number
  method?: string
  params?: Record<string, unknown>
  result?: Record<string, unknown>
  error?: { message: string }
}

/** Opens a page over the DevTools protocol through a pipe: JSON messages, each ended by a zero byte. */
export async function openPage(
  chromium: string,
  url: string,
  { width = 1280, height = 720 }: { width?: number; height?: number } = {},
): Promise<Page> {
  const profile = mkdtempSync(join(tmpdir(), 'agoge-chromium-'))
  const browser = spawn(
    chromium,
    [
      '--headless=new',
      '--remote-debugging-pipe',
      `--user-data-dir=${profile}`,
      '--no-first-run',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      // Hosts other than this machine do not resolve: the page must work without a network.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      // Chromium's sandbox refuses to run as root, which continuous integration often is.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
  )
  const [, , , to, from] = browser.stdio as unknown as [null, null, null, Writable, Readable]
  const exited = new Promise<void>((resolve) => {
    browser.once('close', () => resolve())
  })
  const waiting = new Map<number, (message: Message) => void>()
  const troubles: string[] = []
  let sent = 0
  let rest = ''

  function send(method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> {
    const id = ++sent
    return new Promise((resolve, reject) => {
      waiting.set(id, ({ result = {}, error }) => {
        if (error === undefined) resolve(result)
        else reject(new Error(`${method}: ${error.message}`))
      })
      to.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    })
  }

  from.setEncoding('utf8').on('data', (text: string) => {
    const messages = (rest + text).split('\0')
    rest = messages.pop() ?? ''
    for (const message of messages.map((json) => JSON.parse(json) as Message)) {
      if (message.id !== undefined) waiting.get(message.id)?.(message)
      if (message.id !== undefined) waiting.delete(message.id)
      if (isTrouble(message)) troubles.push(JSON.stringify(message.params))
    }
  })
  const gone = (): void => {
    for (const settle of waiting.values()) settle({ error: { message: 'Chromium has ended' } })
    waiting.clear()
  }
  browser.once('close', gone)
  browser.once('error', gone)

  const { targetId } = await send('Target.createTarget', { url: 'about:blank' })
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true })
  const session = sessionId as string
  for (const domain of ['Runtime', 'Log', 'Page']) await send(`${domain}.enable`, {}, session)
  const metrics = { width, height, deviceScaleFactor: 1, mobile: false }
  await send('Emulation.setDeviceMetricsOverride', metrics, session)
  await send('Page.navigate', { url }, session)

  return {
    troubles,
    async evaluate<T>(expression: string) {
      const options = { expression, awaitPromise: true, returnByValue: true }
      const { result, exceptionDetails } = await send('Runtime.evaluate', options, session)
      if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails))
      return (result as { value: T }).value
    },
    async screenshot() {
      const { data } = await send('Page.captureScreenshot', { format: 'png' }, session)
      return Buffer.from(data as string, 'base64')
    },
    async close() {
      await send('Browser.close').catch(() => {})
      await exited
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function isTrouble({ method, params = {} }: Message): boolean {
  if (method === 'Runtime.exceptionThrown') return true
  if (method === 'Runtime.consoleAPICalled') return ['error', 'warning'].includes(String(params['type']))
  return method === 'Log.entryAdded' && (params['entry'] as { level: string }).level === 'error'
}
