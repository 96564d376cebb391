import { lstatSync, realpathSync } from 'node:fs'
import { dirname, join, posix, sep } from 'node:path'

const pathArguments = ['path', 'source', 'destination']

/** What an argument may weigh; a longer pattern or text is refused before it reaches the server. */
const limits = { path: 400, pattern: 200, other: 20_000 }

/**
 * Rewrites the arguments of a call from paths of the policy (`/notes/a.txt`, the sandbox is `/`) to real ones below
 * `root`. `..` stops at the sandbox, and a path that leads out of it through a link is refused.
 *
 * @returns the arguments for the server, or what is wrong with them, in the words told to the policy
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

/** Follows links, also of a path whose last parts do not exist yet. */
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

/** A link to nowhere: what is written through it could land anywhere. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch {
    // Nothing is there, or nothing can be (a name too long, a file in the place of a folder): the server will say so.
    return false
  }
}
