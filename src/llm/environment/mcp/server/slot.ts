import { cpSync, existsSync, mkdirSync, readdirSync, realpathSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, delimiter, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import type { StdioServerConfig } from '../../../tool/server-config.ts'
import {
  checkSize,
  exceeds,
  isProgramFile,
  isProgramVariable,
  libraryFolders,
  namedPath,
  programFolder,
  type SizeLimit,
  sizeOf,
} from './slot-paths.ts'

/** A file or folder that each slot gets a copy of. */
interface SlotCopy {
  from: string
  /** Relative path in the slot. */
  to: string
}

/** How a server is started in a slot, a folder of its own. */
export interface SlotPlan {
  /** `{slot}` in `command`, `args`, `env` and `cwd` stands for the slot. */
  server: StdioServerConfig
  copies: readonly SlotCopy[]
  /** Paths below the slot and the paths under which a server and a policy know them, the longest first. */
  shown: readonly { inside: string; outside: string }[]
  /** What a person should know, as sentences. */
  remarks: readonly string[]
}

const mostFiles = 20_000
/**
 * A program of more than this runs where it is. Each look at the state looks at every file of the slot, which for 300 takes
 * as long as a short call.
 */
const programLimit: SizeLimit = { bytes: 16_000_000, files: 300 }
/** Options of launchers whose value names a program. */
const launcherOption = /^(?:--directory|--project|--prefix|--cwd|--from|-C|--import|--require|-r|--loader)$/

/** Variables that say where launchers keep what they downloaded. A slot would have to download it again. */
const downloads = {
  npm_config_cache: '.npm',
  npm_config_userconfig: '.npmrc',
  UV_CACHE_DIR: '.cache/uv',
  UV_TOOL_DIR: '.local/share/uv/tools',
  UV_PYTHON_INSTALL_DIR: '.local/share/uv/python',
  PIP_CACHE_DIR: '.cache/pip',
  DENO_DIR: '.cache/deno',
  BUN_INSTALL_CACHE_DIR: '.bun/install/cache',
  PLAYWRIGHT_BROWSERS_PATH: '.cache/ms-playwright',
  PUPPETEER_CACHE_DIR: '.cache/puppeteer',
}

/** Launchers make these folders when they are missing. */
const cacheVariables = new Set(['npm_config_cache', 'UV_CACHE_DIR'])

/**
 * Plans how a server runs in a slot: its working directory, HOME, the XDG folders and the temporary folder are in the
 * slot. Files and folders that its arguments and variables name are copied in, and its arguments rewritten. So is the
 * folder of its program, if that is small: some servers keep their data beside their code.
 *
 * @throws AgogeError if what is named is larger than `megabytes` (default 64).
 */
export function planSlot(
  name: string,
  server: StdioServerConfig,
  { megabytes = 64, base = process.cwd() }: { megabytes?: number | undefined; base?: string } = {},
): SlotPlan {
  const limit = { bytes: megabytes * 1_000_000, files: mostFiles }
  const copies: SlotCopy[] = []
  const remarks: string[] = []
  const cwd = server.cwd === undefined || server.cwd.includes('{slot}') ? base : server.cwd
  if (cwd === server.cwd) {
    checkSize(name, cwd, '"cwd"', limit)
    copies.push({ from: cwd, to: 'work' })
  }

  /** Where a path is in the slot. */
  function place(path: string, where: string): string {
    const real = existsSync(path) ? realpathSync(path) : path
    for (const { from, to } of copies) {
      const within = relative(from, real)
      if (!within.startsWith('..') && !isAbsolute(within)) return join(to, within)
    }
    checkSize(name, real, where, limit)
    const to = join('given', String(copies.length), basename(real) || 'root')
    copies.push({ from: real, to })
    return to
  }

  function rewrite(value: string, where: string): string {
    if (value.includes(delimiter) && !/^[\w-]*:/.test(value)) {
      const parts = value.split(delimiter)
      if (parts.every((part) => isAbsolute(part)))
        return parts.map((part) => rewrite(part, where)).join(delimiter)
    }
    const found = namedPath(value, cwd)
    if (found === undefined) return value
    if (isProgramFile(found.path)) return `${found.before}${programPlace(found.path)}${found.after}`
    return `${found.before}{slot}/${place(found.path, where)}${found.after}`
  }

  let program: string | undefined
  function programPlace(script: string): string {
    const real = realpathSync(script)
    const folder = programFolder(real)
    if (program !== undefined && program !== folder) return real
    if (program === undefined && exceeds(sizeOf(folder, programLimit), programLimit)) {
      remarks.push(
        `its program runs in ${folder}, which is too large to be copied: what it writes beside its code is not reset`,
      )
      return real
    }
    if (program === undefined) copies.push({ from: folder, to: programTarget(folder) })
    program = folder
    return join('{slot}', programTarget(folder), relative(folder, real))
  }

  const args = (server.args ?? []).map((arg, index, all) => {
    if (launcherOption.test(all[index - 1] ?? ''))
      return existsSync(resolve(cwd, arg)) ? resolve(cwd, arg) : arg
    return rewrite(arg, `the argument ${JSON.stringify(arg)}`)
  })
  const env = Object.fromEntries(
    Object.entries(server.env ?? {}).map(([key, value]) => [
      key,
      isProgramVariable(key) ? value : rewrite(value, `the variable ${key}`),
    ]),
  )
  const command = /[\\/]/.test(server.command) ? resolve(cwd, server.command) : server.command
  const given = copies.filter(({ to }) => to.startsWith('given'))
  for (const { from } of copies.filter(({ from, to }) => !to.startsWith('program') && existsSync(from)))
    remarks.push(`each of its processes works on a copy of ${from}`)
  return {
    server: {
      ...server,
      command,
      args,
      env: { ...keptDownloads(env), ...env, ...slotVariables },
      cwd: '{slot}/work',
    },
    copies,
    shown: [
      ...given.map(({ from, to }) => ({ inside: to, outside: from })),
      { inside: 'work', outside: cwd === server.cwd ? cwd : '/work' },
      { inside: '', outside: '/slot' },
    ],
    remarks,
  }
}

/** A package in `node_modules` stays in one: its code may look for its neighbours. */
function programTarget(folder: string): string {
  const at = folder.lastIndexOf('/node_modules/')
  return at < 0 ? join('program', basename(folder)) : join('program', folder.slice(at + 1))
}

const slotVariables = {
  HOME: '{slot}/home',
  USERPROFILE: '{slot}/home',
  XDG_CONFIG_HOME: '{slot}/xdg/config',
  XDG_DATA_HOME: '{slot}/xdg/data',
  XDG_STATE_HOME: '{slot}/xdg/state',
  XDG_CACHE_HOME: '{slot}/xdg/cache',
  XDG_RUNTIME_DIR: '{slot}/xdg/runtime',
  TMPDIR: '{slot}/tmp',
  TMP: '{slot}/tmp',
  TEMP: '{slot}/tmp',
}

function keptDownloads(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(downloads)
      .map(([key, path]) => [key, process.env[key] ?? join(homedir(), path)] as const)
      .filter(([key, path]) => !(key in env) && (cacheVariables.has(key) || existsSync(path))),
  )
}

/** Makes the folders of a slot and copies in what belongs there. */
export function fillSlot(plan: SlotPlan, folder: string): void {
  for (const path of ['work', 'home', 'tmp', 'xdg/config', 'xdg/data', 'xdg/state', 'xdg/cache'])
    mkdirSync(join(folder, path), { recursive: true })
  mkdirSync(join(folder, 'xdg/runtime'), { recursive: true, mode: 0o700 })
  for (const { from, to } of plan.copies) {
    mkdirSync(join(folder, dirname(to)), { recursive: true })
    if (existsSync(from)) copyFolder(from, join(folder, to))
    if (to.startsWith('program')) linkNeighbours(from, join(folder, to))
  }
}

/** Copies everything but libraries, which are linked. */
function copyFolder(from: string, to: string): void {
  cpSync(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    filter(path, target) {
      if (path === from || !libraryFolders.has(basename(path))) return true
      mkdirSync(dirname(target), { recursive: true })
      symlinkSync(realpathSync(path), target)
      return false
    },
  })
}

/** Links the library of a copied package, or one above a copied program, where its code finds it. */
function linkNeighbours(from: string, to: string): void {
  const inside = from.lastIndexOf('/node_modules/')
  if (inside >= 0) {
    // `program/node_modules/NAME` finds its neighbours in a `node_modules` beside `program`.
    const [folder] = to.split('/program/node_modules/')
    const library = from.slice(0, inside + '/node_modules'.length)
    if (!existsSync(join(folder, 'node_modules'))) symlinkSync(library, join(folder, 'node_modules'))
    return
  }
  // Outside of `node_modules` a program may use the libraries of a folder above it.
  if (existsSync(join(to, 'node_modules'))) return
  for (let folder = dirname(from); folder !== dirname(folder); folder = dirname(folder)) {
    const library = join(folder, 'node_modules')
    if (existsSync(library)) {
      symlinkSync(library, join(dirname(to), 'node_modules'))
      return
    }
  }
}

/** Files of the working directory that arguments may name. */
const mostKnownFiles = 50

/**
 * The files that the `cwd` of a server has at first, as records with the paths under which a policy knows them. Without
 * libraries and hidden files. None if the configuration names no `cwd`.
 */
export function filesAtWork({ copies }: SlotPlan): { path: string }[] {
  const work = copies.find(({ to }) => to === 'work')
  const found: { path: string }[] = []
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (found.length === mostKnownFiles) return
      if (entry.name.startsWith('.') || libraryFolders.has(entry.name)) continue
      if (entry.isDirectory()) visit(join(folder, entry.name))
      else if (entry.isFile()) found.push({ path: join(folder, entry.name) })
    }
  }
  if (work !== undefined && existsSync(work.from)) visit(work.from)
  return found
}

/** Replaces paths of a slot by those under which the policy knows them, and back. */
export function slotNames(plan: SlotPlan, folder: string) {
  const pairs = plan.shown.map(({ inside, outside }) => ({
    inside: inside === '' ? folder : join(folder, inside),
    outside,
  }))
  const longest = (side: 'inside' | 'outside') =>
    pairs.toSorted((left, right) => right[side].length - left[side].length)
  const show = longest('inside').map(({ inside, outside }) => [wholePath(inside, ''), outside] as const)
  const hide = longest('outside').map(
    ({ inside, outside }) => [wholePath(outside, String.raw`(?<![\w.\-/])`), inside] as const,
  )
  const replace = (text: string, rules: typeof show): string =>
    rules.reduce((all, [pattern, by]) => all.replace(pattern, () => by), text)
  const back = (value: unknown): unknown => {
    if (typeof value === 'string') return value.includes(folder) ? value : replace(value, hide)
    if (Array.isArray(value)) return value.map(back)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, back(item)]))
  }
  return {
    show: (text: string) => replace(text, show),
    hide: (args: Record<string, unknown>) => back(args) as Record<string, unknown>,
  }
}

/** Matches a path as a whole: `/work` in `/work/a` and in `at /work.`, not in `/workshop`. */
function wholePath(path: string, before: string): RegExp {
  const escaped = path.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(String.raw`${before}${escaped}(?![\w-]|\.\w)`, 'g')
}
