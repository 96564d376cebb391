// npm run bench:libraries [-- NAME...]: compares our code with the libraries that could take its place, as docs/decisions.md reports.
// NAME: json-schema, json-repair, tokenizers, protobuf, http. The first run installs the libraries into .agoge/libraries.
import { installLibraries } from './measure.ts'

const names = ['json-schema', 'json-repair', 'tokenizers', 'protobuf', 'http']
const given = process.argv.slice(2)
const unknown = given.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  console.error(`no comparison ${unknown.join(', ')}; there are ${names.join(', ')}`)
  process.exit(1)
}
installLibraries()
for (const name of given.length > 0 ? given : names) {
  console.log(`\n${name}`)
  const { compare } = (await import(`./${name}.ts`)) as { compare: () => Promise<void> }
  await compare()
}
process.exit(0)
