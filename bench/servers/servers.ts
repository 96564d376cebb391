/**
 * The MCP servers of the table in docs/results/servers.md: ten, and three reserves. Fixed on 2026-11-23, before any work on them.
 * A server is replaced only by a reserve, and the page then says why.
 */

/** What a server is about. */
export type ServerKind =
  | 'knowledge graph'
  | 'demonstration'
  | 'files'
  | 'sequential thinking'
  | 'time and calendar'
  | 'tasks'
  | 'SQL on SQLite'
  | 'SQL on PostgreSQL'
  | 'SQL on MariaDB'
  | 'key-value on Redis'
  | 'browser'
  | 'calculation'
  | 'code or lint'

/** The `service` of the `agoge` entry, as a user would write it. */
export type BenchService =
  | { kind: 'postgres' | 'mariadb' | 'redis'; seed?: string }
  | { start: string; seed?: string; reset: string; show?: string }

export interface BenchServer {
  /** The name in `.mcp.json`: `agoge train mcp:NAME`. */
  name: string
  kind: ServerKind
  /** The npm package with its exact version. */
  package: string
  licence: string
  /** Number of tools that `tools/list` returned when the server was chosen. */
  tools: number
  /** Arguments after the package. `{folder}` is the folder of the `.mcp.json`; Agoge fills in `{service}` and the like. */
  args: readonly string[]
  /** The working directory, with the same placeholder. Default: that of Agoge. */
  cwd?: string
  /** Environment, with the same placeholders. */
  env?: Readonly<Record<string, string>>
  /** What the user has in the folder of the `.mcp.json`: a name there, and the file or folder of bench/servers/data it is made from. */
  files?: Readonly<Record<string, string>>
  service?: BenchService
  /** Arguments that nobody can guess, as the `examples` of the `agoge` entry. */
  examples?: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>
  /** Native modules that are built after `npm install --ignore-scripts`. */
  rebuild?: readonly string[]
  /** `--sandbox=remote` instead of `--sandbox`: its tools say that they reach other hosts. */
  remote?: true
  /** Tools that need the internet. They are not counted. */
  needInternet?: readonly string[]
  /** Reserves replace a server of the ten that cannot be measured. */
  reserve: boolean
  /** The reserve that stands in for this server, and why this one cannot be measured, as a clause. */
  replaced?: { by: string; why: string }
  why: string
}

export const benchServers: readonly BenchServer[] = [
  {
    name: 'memory',
    kind: 'knowledge graph',
    package: '@modelcontextprotocol/server-memory@2026.8.31',
    licence: 'MIT and Apache-2.0',
    tools: 9,
    args: [],
    reserve: false,
    why: 'Reference server of the protocol. Arguments are arrays of nested objects; six of nine tools write.',
  },
  {
    name: 'everything',
    kind: 'demonstration',
    package: '@modelcontextprotocol/server-everything@2026.8.31',
    licence: 'MIT and Apache-2.0',
    tools: 13,
    needInternet: ['gzip-file-as-resource'],
    args: [],
    reserve: false,
    why: 'Reference server that shows every feature: images, resources, elicitation, sampling, long operations, structured results.',
  },
  {
    name: 'filesystem',
    kind: 'files',
    package: '@modelcontextprotocol/server-filesystem@2026.8.31',
    licence: 'MIT and Apache-2.0',
    tools: 14,
    args: ['{folder}/documents'],
    files: { documents: 'documents' },
    reserve: false,
    why: 'Reference server, and the one most people install first. The main job has tasks of its own for it; here it is a server like any other.',
  },
  {
    name: 'thinking',
    kind: 'sequential thinking',
    package: '@modelcontextprotocol/server-sequential-thinking@2026.8.31',
    licence: 'MIT and Apache-2.0',
    tools: 1,
    args: [],
    reserve: false,
    replaced: {
      by: 'calculator',
      why: 'its only tool counts its own calls and nothing shows that count, so no task can be judged',
    },
    why: 'Reference server. One tool that keeps state in its process, with nine arguments.',
  },
  {
    name: 'time',
    kind: 'time and calendar',
    package: 'time-mcp@1.0.6',
    licence: 'MIT',
    tools: 6,
    args: [],
    reserve: false,
    why: 'The one time server for Node among those found in public lists that could be installed. An earlier guide has figures for it.',
  },
  {
    name: 'tasks',
    kind: 'tasks',
    package: 'mcp-shrimp-task-manager@1.0.21',
    licence: 'MIT',
    tools: 15,
    args: [],
    env: { DATA_DIR: '{folder}/tasks', TEMPLATES_USE: 'en', ENABLE_GUI: 'false' },
    reserve: false,
    why: 'A well-known task manager, in several public lists. Random ids, times, long answers in Markdown, and JSON inside of a string.',
  },
  {
    name: 'sqlite',
    kind: 'SQL on SQLite',
    package: 'mcp-sqlite@1.0.9',
    licence: 'ISC',
    tools: 8,
    args: ['{folder}/shop.db'],
    files: { 'shop.db': 'shop.sql' },
    rebuild: ['sqlite3'],
    reserve: false,
    why: 'Records and free SQL in one server; no account, runs on Node 20. The database is a small shop of four tables.',
  },
  {
    name: 'postgres',
    kind: 'SQL on PostgreSQL',
    package: '@henkey/postgres-mcp-server@1.0.7',
    licence: 'AGPL-3.0',
    tools: 18,
    args: ['--connection-string', '{service}'],
    files: { 'shop.sql': 'shop.sql' },
    service: { kind: 'postgres', seed: 'shop.sql' },
    reserve: false,
    why: 'The widest of those for PostgreSQL that run on Node 20 and are maintained: schema, data, indexes, users, statistics.',
  },
  {
    name: 'redis',
    kind: 'key-value on Redis',
    package: '@modelcontextprotocol/server-redis@2025.4.25',
    licence: 'MIT',
    tools: 4,
    args: ['{service}'],
    service: { kind: 'redis' },
    reserve: false,
    why: 'Once a reference server, now archived; the alternatives need an account or could not be installed. The database is empty.',
  },
  {
    name: 'browser',
    kind: 'browser',
    package: '@playwright/mcp@0.0.83',
    licence: 'Apache-2.0',
    tools: 25,
    args: [
      '--headless',
      '--isolated',
      '--no-sandbox',
      '--executable-path',
      '/usr/bin/chromium',
      '--proxy-server',
      'http://127.0.0.1:{port}',
      '--init-page',
      '{folder}/site/open.mjs',
    ],
    files: { site: 'site', 'site/open.mjs': 'site-open.txt' },
    service: { start: 'exec node {folder}/site/server.mjs', reset: 'true' },
    examples: {
      browser_navigate: [
        { url: 'http://shop.example/' },
        { url: 'http://shop.example/help.html' },
        { url: 'http://shop.example/hours.html' },
      ],
      browser_evaluate: [
        { function: "() => { document.title = 'Sale' }" },
        { function: "() => { document.querySelector('h1').textContent = 'Welcome' }" },
        { function: "() => { document.querySelector('nav').remove() }" },
      ],
      browser_run_code_unsafe: [
        { code: "async (page) => { await page.getByLabel('City').fill('Bern') }" },
        { code: "async (page) => { await page.getByLabel('Wrap as a gift').check() }" },
        { code: "async (page) => { await page.getByText('Add the oak desk').dblclick() }" },
      ],
    },
    remote: true,
    reserve: false,
    replaced: {
      by: 'mariadb',
      why: 'its state is reset by a new Chromium, so that twelve minutes were enough for six tasks',
    },
    why: 'A well-known browser server, by the makers of Playwright, on real Chromium. `--no-sandbox` is what Chromium asks for where it runs as root.',
  },
  {
    name: 'calculator',
    kind: 'calculation',
    package: '@wrtnlabs/calculator-mcp@0.2.1',
    licence: 'MIT',
    tools: 6,
    args: [],
    reserve: true,
    why: 'Arithmetic only. An earlier guide has figures for it, so it is a reserve.',
  },
  {
    name: 'lint',
    kind: 'code or lint',
    package: '@eslint/mcp@0.3.13',
    licence: 'Apache-2.0',
    tools: 1,
    args: [],
    cwd: '{folder}',
    files: {
      'eslint.config.js': 'eslint.config.txt',
      'greet.js': 'lint-greet.txt',
      'total.js': 'lint-total.txt',
      'zero.js': 'lint-zero.txt',
    },
    reserve: true,
    why: "ESLint's own server. One tool that reads files of the project.",
  },
  {
    name: 'mariadb',
    kind: 'SQL on MariaDB',
    package: '@benborla29/mcp-server-mysql@2.0.9',
    licence: 'MIT',
    tools: 1,
    args: [],
    env: {
      MYSQL_USER: '{user}',
      MYSQL_PASS: '',
      MYSQL_DB: '{database}',
      ALLOW_INSERT_OPERATION: 'true',
      ALLOW_UPDATE_OPERATION: 'true',
      ALLOW_DELETE_OPERATION: 'true',
    },
    files: { 'shop.sql': 'shop.sql' },
    service: { kind: 'mariadb', seed: 'shop.sql' },
    reserve: true,
    why: 'A well-known server for MySQL and MariaDB. One tool that takes free SQL.',
  },
]

/** The server of this name; undefined if there is none. */
export function findBenchServer(name: string): BenchServer | undefined {
  return benchServers.find((server) => server.name === name)
}
