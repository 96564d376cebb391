// The folder of one attack: what a user would have, and what the server needs for its attack.
import { createHash, randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import sqlite from 'node-sqlite3-wasm'
import type { ServerMode } from './modes.ts'

/** The name of the attacking server in `.mcp.json`. */
export const serverName = 'stranger'
const program = fileURLToPath(new URL('.', import.meta.url))

export interface Place {
  /** The working directory of the command. */
  folder: string
  /** What no output and no file may show. */
  secrets: readonly string[]
  /** A word on the command line of everything that the server starts. */
  tag: string
  /** What the user's files had at first, by path. */
  files: ReadonlyMap<string, string>
  /** Variables of the command. */
  env: Readonly<Record<string, string>>
  /** A file that the server makes before it says or answers anything. What the command loads before is not its doing. */
  begun: string
}

/** What the command writes, and what the attack itself changes. */
const notOfTheUser = /^(?:tasks\.jsonl|\.mcp\.json|server\/|tmp)/

/** Makes the folder of an attack, with a `.mcp.json` whose one server attacks. */
export async function preparePlace(folder: string, mode: ServerMode): Promise<Place> {
  const tag = `attack-${randomBytes(6).toString('hex')}`
  // Characters that JSON, HTML and addresses write in another way, and such that base64 has other signs for.
  const secrets = [`pw-${randomBytes(12).toString('hex')}`, `q"7&</>?${randomBytes(9).toString('hex')}~~?`]
  for (const name of ['data', 'server', 'victim']) mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'data', 'mine.txt'), 'mine\n')
  writeFileSync(join(folder, 'victim', 'mine.txt'), '["mine"]')
  writeFileSync(join(folder, 'victim', 'other.json'), '{"mine":true}')
  for (const name of ['hostile-server.mjs', 'hop.sh', 'modes'])
    cpSync(join(program, name), join(folder, 'server', name), { recursive: true })
  if (mode.mode in databases) makeDatabase(join(folder, 'server'), mode.mode, secrets)
  if (mode.sameDisk === true) {
    mkdirSync(join(folder, 'tmp'))
    // As the server's, but for one row.
    makeDatabase(join(folder, 'victim'), mode.mode, secrets, ['INSERT INTO parts VALUES (2)'])
    renameSync(join(folder, 'victim', 'small.db'), join(folder, 'victim', 'rows.db'))
  }
  const begun = join(folder, 'server', 'begun')
  const entry = {
    command: process.execPath,
    args: [join(folder, 'server', 'hostile-server.mjs'), mode.mode, tag],
    cwd: join(folder, 'data'),
    env: {
      HOSTILE_PASSPHRASE: secrets[0],
      HOSTILE_PASSWORD: secrets[1],
      HOSTILE_VICTIM: Buffer.from(join(folder, 'victim')).toString('base64'),
      HOSTILE_BEGUN: Buffer.from(begun).toString('base64'),
      HOSTILE_PORT: String(await freePort()),
    },
  }
  writeConfig(folder, entry)
  const env = mode.sameDisk === true ? { TMPDIR: join(folder, 'tmp') } : {}
  return { folder, secrets, tag, files: checksums(folder), env, begun }
}

/** Writes the `.mcp.json` with the one server that attacks. */
export function writeConfig(folder: string, entry: object): void {
  writeFileSync(join(folder, '.mcp.json'), JSON.stringify({ mcpServers: { [serverName]: entry } }))
}

/** The first broken promise about the user's files. Undefined: none is. */
export function brokenFiles({ folder, files }: Place): string | undefined {
  const now = checksums(folder)
  for (const [path, checksum] of files)
    if (now.get(path) !== checksum) return `${path} of the user was changed`
  for (const path of now.keys()) if (!files.has(path)) return `${path} was made among the user's files`
  return undefined
}

function checksums(folder: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const whole = join(entry.parentPath, entry.name)
    const path = relative(folder, whole)
    if (notOfTheUser.test(path)) continue
    const contents = entry.isFile() ? readFileSync(whole) : 'no file'
    found.set(path, createHash('sha256').update(contents).digest('hex'))
  }
  return found
}

/** Statements of the databases that modes need, with the secrets as `?`. */
const databases: Record<string, { file: string; statements: readonly string[] }> = {
  'hard-link-out': {
    file: 'small.db',
    statements: ['CREATE TABLE parts (id INTEGER PRIMARY KEY)', 'INSERT INTO parts VALUES (1)'],
  },
  'database-that-swells': {
    file: 'swelling.db',
    statements: [
      'CREATE TABLE parts (id INTEGER PRIMARY KEY, big TEXT GENERATED ALWAYS AS (hex(zeroblob(100000000))) VIRTUAL)',
      'INSERT INTO parts (id) VALUES (1), (2), (3)',
    ],
  },
  'database-of-many-rows': {
    file: 'many.db',
    statements: [
      'CREATE TABLE parts (id INTEGER PRIMARY KEY, name TEXT)',
      "INSERT INTO parts WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT i, 'part ' || i FROM n",
    ],
  },
  'secret-in-a-database': {
    file: 'secret.db',
    statements: [
      'CREATE TABLE customers (id INTEGER PRIMARY KEY, word TEXT, name TEXT)',
      ...Array.from({ length: 6 }, (_, id) => `INSERT INTO customers VALUES (${id}, ?, ?)`),
    ],
  },
}

function makeDatabase(
  folder: string,
  mode: string,
  secrets: readonly string[],
  more: readonly string[] = [],
): void {
  const { file, statements } = databases[mode]
  const database = new sqlite.Database(join(folder, file))
  for (const statement of [...statements, ...more])
    database.run(statement, statement.includes('?') ? [...secrets] : undefined)
  database.close()
}

/** A port of this machine that nothing listens on. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
