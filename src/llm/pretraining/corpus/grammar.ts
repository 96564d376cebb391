import type { Random } from '../../../engine/random/index.ts'

type Part = string | Part[][]

const parsed = new Map<string, Part[]>()

/**
 * Draws one surface form of a template. `[a|b|c]` is a choice (choices nest, an empty one is allowed), `{slot}`
 * is filled from `slots` after the spaces around the choices were tidied, so values keep theirs.
 */
export function expand(
  random: Random,
  template: string,
  slots: Readonly<Record<string, string>> = {},
): string {
  let parts = parsed.get(template)
  if (parts === undefined) {
    parts = parse(template)
    parsed.set(template, parts)
  }
  const text = draw(random, parts)
    .replace(/ {2,}/g, ' ')
    .replace(/ ([,;.?!])(?= |$)/g, '$1')
    .trim()
  return text.replace(/\{(\w+)\}/g, (whole, slot: string) => slots[slot] ?? whole)
}

function draw(random: Random, parts: readonly Part[]): string {
  let text = ''
  for (const part of parts)
    text += typeof part === 'string' ? part : draw(random, part[random.int(part.length)])
  return text
}

function parse(template: string): Part[] {
  let at = 0
  const sequence = (): Part[] => {
    const parts: Part[] = []
    let text = ''
    while (at < template.length && template[at] !== '|' && template[at] !== ']') {
      if (template[at] === '[') {
        if (text !== '') parts.push(text)
        text = ''
        const choices: Part[][] = []
        do {
          at += 1
          choices.push(sequence())
        } while (template[at] === '|')
        at += 1
        parts.push(choices)
      } else {
        text += template[at]
        at += 1
      }
    }
    if (text !== '') parts.push(text)
    return parts
  }
  return sequence()
}
