// A plugin of TypeDoc: modules have the names by which programs import them, pages those of their first headings, in groups by folder.
import { Converter, ReflectionKind } from 'typedoc'

const entries = {
  index: 'agoge',
  classic: 'agoge/classic',
  llm: 'agoge/llm',
  engine: 'agoge/engine',
  'llm/reward': 'agoge/rewards',
  'llm/algorithm/losses': 'agoge/losses',
  statistics: 'agoge/statistics',
  browser: 'agoge/browser',
}
const groups = { guides: 'Guides', results: 'Results', reference: 'Reference' }

export function load(app) {
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, document) => {
    const [first] = document.content
    const [heading, title] = /^\s*# (.+)\n/.exec(first.text) ?? []
    if (title === undefined) return
    document.name = title
    // The page has its name as a heading already.
    first.text = first.text.replace(heading, '')
    const file = document.project.files.getReflectionPath(document) ?? ''
    document.frontmatter.group = groups[file.split('/').at(-2)] ?? 'Start here'
  })
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.getReflectionsByKind(ReflectionKind.Module))
      module.name = entries[module.name] ?? module.name
  })
}
