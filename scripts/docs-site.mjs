// npm run docs: builds the documentation site in docs/.site from the pages of docs/ and the docstrings of the package's exports.
// Fails if a link is broken: in a page, to an anchor, or in a docstring. TypeDoc is a separate tool (docs/site), since it reads
// sources with TypeScript 6.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const tool = fileURLToPath(new URL('../docs/site', import.meta.url))
const site = fileURLToPath(new URL('../docs/.site', import.meta.url))
const began = performance.now()

const run = (command, ...args) => execFileSync(command, args, { cwd: tool, stdio: 'inherit' })
if (!existsSync(join(tool, 'node_modules')))
  run('npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent')
rmSync(site, { recursive: true, force: true })
run(process.execPath, join(tool, 'node_modules/typedoc/bin/typedoc'))

const pages = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.html'),
)
const anchors = new Map()
const anchorsOf = (file) => {
  if (!anchors.has(file)) {
    const ids = [...readFileSync(file, 'utf8').matchAll(/\s(?:id|name)="([^"]+)"/g)].map(([, id]) => id)
    anchors.set(file, new Set(ids))
  }
  return anchors.get(file)
}

const dead = []
for (const name of pages) {
  const page = join(site, name)
  for (const [, link] of readFileSync(page, 'utf8').matchAll(/\s(?:href|src)="([^"]*)"/g)) {
    if (/^(?:[a-z]+:|\/\/|#?$)/.test(link)) continue
    const [path, anchor] = decodeURI(link.replaceAll('&amp;', '&')).split('#')
    const target = path === '' ? page : resolve(dirname(page), path.split('?')[0])
    // Files that TypeDoc copied (media/) are not pages of the site: their links refer to the repository.
    if (relative(site, page).startsWith('media')) continue
    if (!existsSync(target)) dead.push(`${name} links to ${link}`)
    else if (anchor !== undefined && target.endsWith('.html') && !anchorsOf(target).has(anchor))
      dead.push(`${name} links to ${link}, which has no such anchor`)
  }
}
for (const line of dead) console.error(line)
if (dead.length > 0) process.exitCode = 1
console.log(
  `docs: ${pages.length} pages in docs/.site, ${dead.length} dead links, ${((performance.now() - began) / 1000).toFixed(0)} s`,
)
