import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, extname, isAbsolute, join, resolve } from 'node:path'
import { AgogeError } from '../../../../error.ts'

/** A path named in an argument or a variable, with what stands around it. */
export interface NamedPath {
  before: string
  /** Absolute. */
  path: string
  after: string
  /** The path as it was written. */
  written: string
}

/** Variables that name programs and libraries, never the data of a server. */
const programVariables =
  /^(?:PATH|NODE_PATH|NODE_OPTIONS|PYTHONPATH|PYTHONHOME|VIRTUAL_ENV|LD_LIBRARY_PATH|DYLD_\w+|CLASSPATH|JAVA_HOME|SHELL|HOME|USERPROFILE|XDG_\w+|TMPDIR|TMP|TEMP|\w*_CA_CERTS?|SSL_CERT_\w+|\w*EXECUTABLE\w*)$/i

export function isProgramVariable(name: string): boolean {
  return programVariables.test(name)
}

const programExtensions = new Set(
  '.js .mjs .cjs .ts .mts .cts .tsx .py .pyz .rb .php .pl .lua .jar .sh .wasm .node .so .dll .dylib .exe .cmd .bat'.split(
    ' ',
  ),
)

/** Whether a file is a program rather than data. Folders are data. */
export function isProgramFile(path: string): boolean {
  const info = statSync(path, { throwIfNoEntry: false })
  if (info === undefined || info.isDirectory()) return false
  return programExtensions.has(extname(path).toLowerCase()) || (info.mode & 0o111) !== 0
}

/**
 * The path in a value, if there is one: `PATH`, `--option=PATH`, `file:PATH` or `sqlite:PATH`, with `?query` after it.
 * A path is one that exists, or an absolute one whose folder exists: the server will make the file.
 */
export function namedPath(value: string, base: string): NamedPath | undefined {
  const [, before, written, after = ''] =
    /^((?:--?[\w.-]+=)?(?:(?:file|sqlite3?|duckdb):(?:\/\/)?)?)([^?\n]+)(\?[^\n]*)?$/.exec(value) ?? []
  if (before === undefined || written === undefined || written.startsWith('-')) return undefined
  if (/^\w+:\/\//.test(written) || written.includes('{')) return undefined
  const path = written.startsWith('~/') ? join(homedir(), written.slice(2)) : resolve(base, written)
  const whole = isAbsolute(written) || written.startsWith('~/')
  const parent = dirname(path)
  if (existsSync(path)) {
    const info = statSync(path)
    // Sockets and devices are services, not data.
    return info.isFile() || info.isDirectory() ? { before, path, after, written } : undefined
  }
  return whole && parent !== '/' && existsSync(parent) ? { before, path, after, written } : undefined
}

/** Folders of installed libraries. They are linked, not copied. */
export const libraryFolders = new Set(['node_modules', '.venv', 'venv'])

export interface SizeLimit {
  bytes: number
  files: number
}

/** Bytes and files below a path, counted until a limit is exceeded. Libraries are not counted. */
export function sizeOf(path: string, limit: SizeLimit): { bytes: number; files: number } {
  const size = { bytes: 0, files: 0 }
  const visit = (at: string): void => {
    if (size.bytes > limit.bytes || size.files > limit.files) return
    const info = lstatSync(at, { throwIfNoEntry: false })
    if (info === undefined) return
    size.files++
    if (info.isDirectory()) {
      for (const name of readdirSync(at)) if (!libraryFolders.has(name)) visit(join(at, name))
    } else if (info.isFile()) size.bytes += info.size
  }
  visit(path)
  return size
}

export function exceeds(size: SizeLimit, limit: SizeLimit): boolean {
  return size.bytes > limit.bytes || size.files > limit.files
}

/** @throws AgogeError if what a server names is too large to be copied for each of its processes. */
export function checkSize(server: string, path: string, where: string, limit: SizeLimit): void {
  if (!exceeds(sizeOf(path, limit), limit)) return
  const megabytes = Math.round(limit.bytes / 1_000_000)
  throw new AgogeError(
    `${path}, which ${where} of the MCP server "${server}" names, is too large to be copied into a sandbox`,
    {
      code: 'slot-too-large',
      given: path,
      expected: `at most ${megabytes} MB and ${limit.files} files`,
      hint: [
        'Name a smaller folder or file, or allow more beside "mcpServers" in the .mcp.json:',
        `  "agoge": { ${JSON.stringify(server)}: { "slotMegabytes": ${megabytes * 10} } }`,
      ].join('\n'),
    },
  )
}

/** The folder of the program that a file belongs to: the nearest with a manifest above it, or its own folder. */
export function programFolder(script: string): string {
  for (let folder = dirname(script); folder !== dirname(folder); folder = dirname(folder)) {
    if (['package.json', 'pyproject.toml', 'setup.py'].some((name) => existsSync(join(folder, name))))
      return folder
    if (basename(dirname(folder)) === 'node_modules') return folder
  }
  return dirname(script)
}
