import type { Random } from '../../../../engine/random/index.ts'
import { defineKind } from '../kind.ts'
import { several, until } from '../shared/draws.ts'
import { scoreWord } from '../shared/scores.ts'
import { kinds } from '../shared/words.ts'

/** A statement about two kinds, by index. */
interface Statement {
  form: 'all' | 'no' | 'some' | 'some not'
  subject: number
  predicate: number
}

/** Does the conclusion follow from statements about kinds of things? Asked only where it does not matter whether a kind may be empty. */
export const syllogism = defineKind({
  name: 'syllogism',
  about: 'whether a conclusion follows from statements with all, no and some',
  knobs: { kinds: { least: 3, most: 6, about: 'of things; one statement fewer' } },
  levels: [{ kinds: 3 }, { kinds: 4 }, { kinds: 5 }],
  templates: [
    '<premises> [Does it follow that|Is it certain that|Can one conclude that|Must it be that] <conclusion>? [Answer yes or no|Yes or no]',
    '[Suppose that this is true:|Given:] <premises> [Does it follow that|Is it certain that] <conclusion>, yes or no',
  ],
  unseen: ['Take for granted: <premises> Would a careful reader have to grant that <conclusion>, yes or no'],
  draw(random, { kinds: size }) {
    const names = several(random, kinds, size)
    const wanted = random.int(2) === 0
    return until(() => {
      const premises = Array.from({ length: size - 1 }, (_, i) => drawStatement(random, i, i + 1))
      const conclusion = drawStatement(random, 0, size - 1)
      const strict = follows(premises, conclusion, size, false)
      const loose = follows(premises, conclusion, size, true)
      return strict === loose && strict === wanted && isConsistent(premises, size)
        ? { names, premises: random.shuffle(premises), conclusion }
        : undefined
    })
  },
  pose({ names, premises, conclusion }) {
    const size = names.length
    const answer = follows(premises, conclusion, size, false) ? 'yes' : 'no'
    const lines = premises.map((premise) => say(premise, names))
    return {
      key: `${[...lines].sort().join('. ')} -> ${say(conclusion, names)}`,
      holes: {
        premises: lines.map((line) => `${line.charAt(0).toUpperCase()}${line.slice(1)}.`).join(' '),
        conclusion: say(conclusion, names),
      },
      thought: links(premises, conclusion, names),
      answer,
      score: (given) => scoreWord(given, answer),
    }
  },
})

function drawStatement(random: Random, one: number, other: number): Statement {
  const [subject, predicate] = random.int(3) === 0 ? [other, one] : [one, other]
  return { form: random.pick(['all', 'all', 'no', 'some', 'some not']), subject, predicate }
}

function say({ form, subject, predicate }: Statement, names: readonly string[]): string {
  const [first, ...rest] = form.split(' ')
  return `${first} ${names[subject]} are ${[...rest, names[predicate]].join(' ')}`
}

const within = (region: number, kind: number): boolean => ((region >> kind) & 1) === 1

/** The regions of Venn's diagram that a statement speaks of: what `all` and `no` empty, what `some` fills. */
function speaksOf({ form, subject, predicate }: Statement, region: number): boolean {
  const inside = form === 'no' || form === 'some'
  return within(region, subject) && within(region, predicate) === inside
}

const isUniversal = ({ form }: Statement): boolean => form === 'all' || form === 'no'

/** Regions that the universal statements leave open. */
function openRegions(premises: readonly Statement[], size: number): number[] {
  const universal = premises.filter(isUniversal)
  return Array.from({ length: 2 ** size }, (_, region) => region).filter(
    (region) => !universal.some((premise) => speaksOf(premise, region)),
  )
}

/** Sets of regions of which each has something in it: by the particular statements, and, if so assumed, by every kind. */
function inhabited(premises: readonly Statement[], size: number, kindsExist: boolean): number[][] {
  const open = openRegions(premises, size)
  const filled = premises
    .filter((premise) => !isUniversal(premise))
    .map((premise) => open.filter((region) => speaksOf(premise, region)))
  const all = Array.from({ length: size }, (_, kind) => open.filter((region) => within(region, kind)))
  return kindsExist ? [...filled, ...all] : filled
}

const isConsistent = (premises: readonly Statement[], size: number): boolean =>
  inhabited(premises, size, true).every((regions) => regions.length > 0)

/**
 * A universal conclusion follows where all that it denies is closed. A particular one follows where something is known to be
 * in a set of regions of which each is among those it speaks of.
 */
function follows(
  premises: readonly Statement[],
  conclusion: Statement,
  size: number,
  kindsExist: boolean,
): boolean {
  if (isUniversal(conclusion))
    return !openRegions(premises, size).some((region) => speaksOf(conclusion, region))
  return inhabited(premises, size, kindsExist).some((regions) =>
    regions.every((region) => speaksOf(conclusion, region)),
  )
}

/** The premises one after another, as a chain from the conclusion's one kind to the other. */
function links(premises: readonly Statement[], conclusion: Statement, names: readonly string[]): string[] {
  const start = Math.min(conclusion.subject, conclusion.predicate)
  const order = [...premises].sort(
    (a, b) => Math.min(a.subject, a.predicate) - Math.min(b.subject, b.predicate),
  )
  return order.map((premise) => say(premise, names)).slice(start)
}
