// Tests the package as users get it: packed, installed into an empty folder with the command of the README, then used with this
// Node (20 or later), Node 22, Node 24 and Bun. Imports every entry, trains and evaluates a small agent, runs a language model.
//   node scripts/pack-smoke.mjs          all of them
//   node scripts/pack-smoke.mjs --here   only the Node that runs this script
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Packages that contain only the program. Bun's install script moves its program out, so install scripts do not run. */
const system = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
const runtimes = [
  { name: 'Node 22', package: `node-${system}@22.23.3`, program: `node-${system}/bin/node` },
  { name: 'Node 24', package: `node-${system}@24.9.0`, program: `node-${system}/bin/node` },
  {
    name: 'Bun',
    package: `@oven/bun-${system.replace('arm64', 'aarch64')}@1.4.5`,
    program: `@oven/bun-${system.replace('arm64', 'aarch64')}/bin/bun`,
  },
]

const root = fileURLToPath(new URL('..', import.meta.url))
const home = mkdtempSync(join(tmpdir(), 'agoge-pack-'))
const began = performance.now()

function run(command, args, cwd) {
  // A test runner or an npm script would pass its own settings to npm.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))
  return execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

function check(what, holds, detail = '') {
  console.log(`pack-smoke: ${holds ? 'ok' : 'WRONG'}: ${what}${holds ? '' : `\n${detail}`}`)
  if (!holds) process.exitCode = 1
}

function install(package_, folder, options = []) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "name": "empty", "private": true, "type": "module" }')
  const quick = ['--prefer-offline', '--no-audit', '--no-fund', '--silent']
  run('npm', ['i', package_, '--ignore-scripts', ...options, ...quick], folder)
}

/** The first steps of a user, with one runtime. */
function useWith(name, program, project, { version, paths }) {
  const agoge = (...args) => run(program, ['node_modules/agoge/dist/cli/main.js', ...args], project)
  const said = agoge('--version').trim()
  check(`${name}: agoge --version says ${version}`, said === version, said)
  const health = agoge('doctor')
  check(`${name}: agoge doctor`, /ok +ONNX Runtime/.test(health), health)

  const script = join(project, 'import.mjs')
  writeFileSync(
    script,
    paths.map((path) => `console.log(Object.keys(await import('${path}')).length > 0)`).join('\n'),
  )
  const imported = run(program, [script], project)
  check(`${name}: ${paths.length} entries imported`, imported === 'true\n'.repeat(paths.length), imported)

  const out = join(project, name.replace(' ', '-'))
  const trained = agoge('train', 'cartpole', '--steps', '4096', '--seed', '1', '--out', out)
  const mean = Number(/mean return ([\d.]+)/.exec(trained)?.[1])
  check(`${name}: agoge train cartpole (mean return ${mean})`, mean > 100, trained)
  const evaluated = agoge('eval', 'cartpole', '--model', out, '--episodes', '5')
  check(`${name}: agoge eval cartpole`, evaluated.includes('mean return'), evaluated)
  const judged = agoge('eval', 'reasoning', '--tasks', '4')
  check(`${name}: agoge eval reasoning`, /judged +4/.test(judged), judged)
  return mean
}

/** A user's program, type-checked against the declarations of every entry, without those of Node. */
function checkTypes(project, paths) {
  const uses = paths.map(
    (path, index) => `import * as entry${index} from '${path}'\nconsole.log(entry${index})`,
  )
  writeFileSync(join(project, 'program.ts'), uses.join('\n'))
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    skipLibCheck: false,
    types: [],
  }
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...compilerOptions, noEmit: true }, files: ['program.ts'] }),
  )
  let wrong = ''
  try {
    run(join(root, 'node_modules', '.bin', 'tsc'), ['-p', '.'], project)
  } catch (error) {
    wrong = error.stdout
  }
  check('declarations need neither skipLibCheck nor @types/node', wrong === '', wrong)
}

/** Targets of links in packed documents must be in the package. Sources of papers and gates are only in the repository. */
function checkLinks(files) {
  const there = new Set(files.map(({ path }) => path))
  const dead = [...there]
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) =>
      [...readFileSync(join(root, path), 'utf8').matchAll(/\]\(([^)#\s]+)/g)]
        .map(([, link]) => link)
        .filter((link) => !/^[a-z]+:/.test(link))
        .map((link) => resolve('/', dirname(path), link).slice(1))
        .filter((link) => !/^(?:research|gates|attacks)\//.test(link))
        .filter((link) => !there.has(link) && ![...there].some((name) => name.startsWith(`${link}/`)))
        .map((link) => `${path} links to ${link}`),
    )
  check('no document links to what is not in the package', dead.length === 0, dead.join('\n'))
}

try {
  // `npm test` has already made the build.
  const packed = run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', home], root)
  const [{ filename, files, size, unpackedSize }] = JSON.parse(packed)
  console.log(
    `pack-smoke: ${files.length} files, ${(size / 2 ** 20).toFixed(1)} MiB, unpacked ${(unpackedSize / 2 ** 20).toFixed(1)}`,
  )
  const { version, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const paths = Object.keys(exports)
    .filter((path) => path !== './package.json')
    .map((path) => `agoge${path.slice(1)}`)
  const missing = Object.values(exports)
    .flatMap((entry) => (typeof entry === 'string' ? [entry] : Object.values(entry)))
    .filter((path) => !files.some((file) => `./${file.path}` === path))
  check('every file of the exports is in the package', missing.length === 0, missing.join('\n'))
  checkLinks(files)

  const project = join(home, 'project')
  install(join(home, filename), project)
  checkTypes(project, paths)
  const here = `Node ${process.versions.node.split('.')[0]}`
  const means = [useWith(here, process.execPath, project, { version, paths })]
  for (const runtime of process.argv.includes('--here') ? [] : runtimes) {
    if (runtime.name === here) continue
    const folder = join(home, runtime.name.replace(' ', '-'))
    install(runtime.package, folder)
    const program = join(folder, 'node_modules', runtime.program)
    check(`${runtime.name} can be had`, existsSync(program), program)
    if (existsSync(program)) means.push(useWith(runtime.name, program, project, { version, paths }))
  }
  check('the same seed gives the same agent on each', new Set(means).size === 1, means.join(' '))
  console.log(`pack-smoke: ${((performance.now() - began) / 1000).toFixed(0)} s`)
} finally {
  rmSync(home, { recursive: true, force: true })
}
