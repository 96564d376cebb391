import { lstatSync, realpathSync } from 'node:fs'
import { dirname, join, posix, sep } from 'node:path'
import { parseForeignJson } from '../../../untrusted/foreign-json.ts'
import type { ToolResult } from '../../tool/tool.ts'

const pathArguments = ['path', 'source', 'destination']

/** Size limit of an argument. A longer pattern or text is refused before it reaches the server. */
const limits = { path: 400, pattern: 200, other: 20_000 }

/**
 * Maps the arguments of a call from the policy's paths (`/notes/a.txt`, where `/` is the sandbox) to real paths below
 * `root`. `..` stops at the sandbox, and a path that leaves it through a link is refused.
 *
 * @returns the arguments for the server, or the problem as the policy sees it.
 */
export function toSandbox(root: string, args: Record<string, unknown>): Record<string, unknown> | string {
  const mapped: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(args)) {
    const paths = pathArguments.includes(name)
      ? [value]
      : name === 'paths' && Array.isArray(value)
        ? value
        : []
    for (const path of paths) {
      if (typeof path !== 'string') continue
      if (path.length > limits.path) return `${name} is too long`
      if (path.includes('\0')) return `${name} is not a path`
      if (!staysInside(root, realPath(root, path))) return `access denied: ${clean(path)}`
    }
    const limit = /pattern/i.test(name) ? limits.pattern : limits.other
    if (paths.length === 0 && JSON.stringify(value)?.length > limit) return `${name} is too long`
    mapped[name] =
      paths.length === 0
        ? value
        : name === 'paths'
          ? paths.map((path) => (typeof path === 'string' ? realPath(root, path) : path))
          : typeof value === 'string'
            ? realPath(root, value)
            : value
  }
  return mapped
}

const clean = (path: string): string => posix.normalize(`/${path.replaceAll('\\', '/')}`)

const realPath = (root: string, path: string): string => join(root, clean(path))

/** Resolves links, also for a path whose last parts do not exist yet. */
function staysInside(root: string, path: string): boolean {
  for (let existing = path; existing.length >= root.length; existing = dirname(existing)) {
    try {
      const real = realpathSync.native(existing)
      return real === root || real.startsWith(root + sep)
    } catch {
      if (isLink(existing)) return false
    }
  }
  return false
}

/** A dangling link: a write through it could land anywhere. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch {
    // The path does not exist, or cannot (a name too long, a file in place of a folder). The server reports it.
    return false
  }
}

const longest = 4000

/**
 * Formats a result of the server for the policy: short, and the same for the same sandbox on every machine. The
 * sandbox's folder becomes `/`; listings are sorted; a diff is reduced to its changed lines; error codes and
 * repetitions are removed.
 */
export function presentResult(tool: string, result: ToolResult, root: string): ToolResult {
  const text = withoutRoot(result.text, root)
  const shown = result.isError ? shortError(text) : (presentations[tool]?.(text) ?? text)
  return {
    text: shown.length > longest ? `${shown.slice(0, longest)}\n(cut)` : shown,
    isError: result.isError,
  }
}

const sortLines = (text: string): string => text.split('\n').toSorted().join('\n')

const presentations: Record<string, ((text: string) => string) | undefined> = {
  list_directory: sortLines,
  search_files: sortLines,
  directory_tree: (text) => JSON.stringify(sortTree(parseForeignJson(text) as TreeEntry[])),
  edit_file: (text) => {
    const changed = text.split('\n').filter((line) => /^[-+](?!--|\+\+)/.test(line))
    return changed.length > 0 ? changed.join('\n') : 'no change'
  },
}

interface TreeEntry {
  name: string
  type: string
  children?: TreeEntry[]
}

function sortTree(entries: TreeEntry[]): TreeEntry[] {
  return entries
    .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    .map((entry) => (entry.children === undefined ? entry : { ...entry, children: sortTree(entry.children) }))
}

/** `/tmp/x/e1/notes/a.txt` becomes `/notes/a.txt`; `/tmp/x/e1` becomes `/`. */
function withoutRoot(text: string, root: string): string {
  return text.replaceAll(root.replaceAll('\\', '/'), root).replaceAll(`${root}/`, '/').replaceAll(root, '/')
}

function shortError(text: string): string {
  const plain = text
    // The server writes beside the file first, under a random name.
    .replace(/\.[0-9a-f]{32}\.tmp/g, '')
    .replace(/^(?:MCP error -\d+: |Error: )+/, '')
  const invalid = /^(?:Input validation error: )?Invalid arguments for tool (\w+)/.exec(plain)
  if (invalid !== null) return `error: invalid arguments for ${invalid[1]}`
  const system = /^(E[A-Z]+): ([^,\n]+)(?:, \w+)?(?: ('.*'))?/.exec(plain)
  if (system !== null)
    return `error: ${system[2]}${system[3] === undefined ? '' : `: ${system[3].replaceAll("'", '')}`}`
  if (plain.startsWith('Access denied')) return 'error: access denied'
  if (plain.startsWith('Could not find exact match')) return 'error: the old text is not in the file'
  const line = plain.split('\n')[0].slice(0, 200)
  return `error: ${line.charAt(0).toLowerCase()}${line.slice(1)}`
}
