import { filesystemTasks } from '../../environment/filesystem/tasks.ts'
import { unseenTemplates, unseenWords } from '../../environment/filesystem/paraphrases.ts'

let phrases: ReadonlySet<string> | undefined

/**
 * Whether a request has five words in a row of a prompt template of the filesystem benchmark, trained or unseen, or six of
 * one of its prompts, in which one template may stand in another.
 */
export function isBenchmarkPhrase(request: string): boolean {
  phrases ??= new Set([
    ...[
      ...Object.values(filesystemTasks.templates).flatMap(({ all }) => all.map(({ text }) => text)),
      ...Object.values(unseenTemplates).flat(),
      ...Object.values(unseenWords).flat(),
    ].flatMap((template) => phrasesIn(template.replace(/"?<\w+>"?/g, '|'), 5)),
    ...(['validation', 'test', 'unseen-paraphrase'] as const).flatMap((split) =>
      Array.from({ length: 1000 }, (_, seed) =>
        phrasesIn(filesystemTasks.task({ split, seed }).prompt, 6),
      ).flat(),
    ),
  ])
  return [5, 6].some((length) => phrasesIn(request, length).some((phrase) => phrases?.has(phrase) === true))
}

/** All runs of `length` words between names and marks. */
function phrasesIn(text: string, length: number): string[] {
  // A name or a text ends a run of words.
  const runs = text
    .toLowerCase()
    .replace(/"[^"]*"|\S*[\d/_]\S*|\S+\.\S+/g, '|')
    .split(/[^a-z' ]+/)
  return runs.flatMap((run) => {
    const words = run.split(' ').filter((word) => word !== '')
    return words
      .slice(0, Math.max(0, words.length - length + 1))
      .map((_, at) => words.slice(at, at + length).join(' '))
  })
}
