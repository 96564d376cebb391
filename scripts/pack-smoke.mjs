// The package as users get it: packed, installed into an empty folder by the line of the README, asked for its version and health, and
// every sub-path of its exports imported.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const home = mkdtempSync(join(tmpdir(), 'agoge-pack-'))
const began = performance.now()

function run(command, args, cwd) {
  // A run of tests or a script of npm would tell npm where it thinks it is.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))
  return execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

function check(what, holds, detail = '') {
  console.log(`pack-smoke: ${holds ? 'ok' : 'WRONG'}: ${what}${holds ? '' : `\n${detail}`}`)
  if (!holds) process.exitCode = 1
}

try {
  // The build is there already: `npm test` made it.
  const packed = run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', home], root)
  const [{ filename, files }] = JSON.parse(packed)
  const { version, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

  const project = join(home, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "name": "empty", "private": true, "type": "module" }')
  const quick = ['--prefer-offline', '--no-audit', '--no-fund']
  run('npm', ['i', join(home, filename), '--ignore-scripts', ...quick], project)
  const agoge = join(project, 'node_modules', '.bin', 'agoge')

  const said = run(agoge, ['--version'], project).trim()
  check(`agoge --version says ${version}`, said === version, said)
  const health = run(agoge, ['doctor'], project)
  check('agoge doctor', health.includes('ONNX Runtime'), health)

  const paths = Object.keys(exports)
    .filter((path) => path !== './package.json')
    .map((path) => `agoge${path.slice(1)}`)
  const script = join(project, 'import.mjs')
  writeFileSync(
    script,
    `let wrong = 0
for (const path of ${JSON.stringify(paths)}) {
  const names = await import(path).then(Object.keys, (error) => (console.log(path + ': ' + error.stack), (wrong = 1), []))
  if (names.length === 0) console.log(path + ' exports nothing')
}
console.log('imported')
process.exit(wrong)`,
  )
  const imported = run(process.execPath, [script], project)
  check(`${paths.length} sub-paths can be imported`, imported.trim() === 'imported', imported)

  // What the packed documents point at must be in the package; sources of papers and gates are of the repository alone.
  const there = new Set(files.map(({ path }) => path))
  const dead = [...there]
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) =>
      [...readFileSync(join(root, path), 'utf8').matchAll(/\]\(([^)#\s]+)/g)]
        .map(([, link]) => link)
        .filter((link) => !/^[a-z]+:/.test(link))
        .map((link) => resolve('/', dirname(path), link).slice(1))
        .filter((link) => !/^(?:research|gates)\//.test(link))
        .filter((link) => !there.has(link) && ![...there].some((name) => name.startsWith(`${link}/`)))
        .map((link) => `${path} links to ${link}`),
    )
  check('no document links to what is not in the package', dead.length === 0, dead.join('\n'))
  console.log(`pack-smoke: ${((performance.now() - began) / 1000).toFixed(0)} s`)
} finally {
  rmSync(home, { recursive: true, force: true })
}
