// Adds platform bindings to package-lock.json that npm leaves out if the registry in use lacks them, so that `npm ci` works on
// every platform and npm version. Run it after every change of a dependency.
import { readFileSync, writeFileSync } from 'node:fs'

const file = new URL('../package-lock.json', import.meta.url)
const lock = JSON.parse(readFileSync(file, 'utf8'))
const systems = [
  'android',
  'darwin',
  'freebsd',
  'linux',
  'openharmony',
  'win32',
  'aix',
  'sunos',
  'netbsd',
  'openbsd',
]
const processors = ['arm64', 'arm', 'x64', 'ia32', 'ppc64', 'riscv64', 's390x', 'loong64', 'mips64el']

let added = 0
for (const [parent, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (lock.packages[`node_modules/${name}`] || lock.packages[`${parent}/node_modules/${name}`]) continue
    const words = name.split(/[/-]/)
    const os = systems.find((s) => words.includes(s))
    const cpu = processors.find((p) => words.includes(p))
    if (os === undefined || cpu === undefined) continue
    const libc = words.some((w) => w.startsWith('musl'))
      ? ['musl']
      : words.some((w) => w.startsWith('gnu'))
        ? ['glibc']
        : undefined
    lock.packages[`node_modules/${name}`] = {
      version,
      cpu: [cpu],
      ...(entry.dev ? { dev: true } : {}),
      ...(os === 'linux' && libc ? { libc } : {}),
      optional: true,
      os: [os],
    }
    added++
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(file, JSON.stringify(lock, null, 2) + '\n')
console.log(`added ${added} platform entries`)
