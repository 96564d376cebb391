import type { createRandom } from 'agoge/engine'

export type Random = ReturnType<typeof createRandom>

/** An operation on a few words, with the sentences that ask for it. */
export interface Operation {
  name: string
  apply: (words: readonly string[]) => string
  /** The name that a tool which does this has in training, and its descriptions. */
  tool: string
  /** Sentences of training. */
  asks: readonly string[]
}

/** What the model for these tables learns to do when its prompt asks for it, shows it, or describes it. */
export const operations: readonly Operation[] = [
  {
    name: 'first',
    apply: ([first]) => first,
    tool: 'take_first',
    asks: [
      'give the first word',
      'answer with the first word',
      'what is the first word',
      'only the first word',
      'say the word that comes first',
    ],
  },
  {
    name: 'last',
    apply: (words) => words[words.length - 1],
    tool: 'take_last',
    asks: [
      'give the last word',
      'answer with the last word',
      'what is the last word',
      'only the last word',
      'say the word that comes last',
    ],
  },
  {
    name: 'second',
    apply: ([, second]) => second,
    tool: 'take_second',
    asks: [
      'give the second word',
      'answer with the second word',
      'what is the second word',
      'only the second word',
      'say the word that comes second',
    ],
  },
  {
    name: 'count',
    apply: (words) => String(words.length),
    tool: 'count_words',
    asks: [
      'how many words are there',
      'count the words',
      'give the number of words',
      'answer with the number of words',
      'say how many words there are',
    ],
  },
  {
    name: 'repeat',
    apply: (words) => words.join(' '),
    tool: 'repeat_words',
    asks: [
      'repeat the words',
      'say the words again',
      'answer with the same words',
      'give the words back',
      'copy the words',
    ],
  },
  {
    name: 'dashes',
    apply: (words) => words.join('-'),
    tool: 'join_dashes',
    asks: [
      'put dashes between the words',
      'join the words with dashes',
      'write the words with dashes',
      'give the words joined by dashes',
      'dashes instead of spaces',
    ],
  },
  {
    name: 'list',
    apply: (words) => JSON.stringify(words),
    tool: 'make_list',
    asks: [
      'give the words as a json list',
      'make a json list',
      'write the words as json',
      'answer with a json list',
      'json list of the words',
    ],
  },
  {
    name: 'commas',
    apply: (words) => words.join(', '),
    tool: 'join_commas',
    asks: [
      'put commas between the words',
      'join the words with commas',
      'write the words with commas',
      'give the words joined by commas',
      'commas instead of spaces',
    ],
  },
  {
    name: 'drop first',
    apply: (words) => words.slice(1).join(' '),
    tool: 'drop_first',
    asks: [
      'leave out the first word',
      'all but the first word',
      'remove the first word',
      'give the words without the first one',
      'the words after the first one',
    ],
  },
  {
    name: 'drop last',
    apply: (words) => words.slice(0, -1).join(' '),
    tool: 'drop_last',
    asks: [
      'leave out the last word',
      'all but the last word',
      'remove the last word',
      'give the words without the last one',
      'the words before the last one',
    ],
  },
  {
    name: 'ends',
    apply: (words) => `${words[0]} ${words[words.length - 1]}`,
    tool: 'take_ends',
    asks: [
      'give the first and the last word',
      'answer with the first and last word',
      'only the first and the last word',
      'the word at each end',
      'say the first word and the last word',
    ],
  },
  {
    name: 'mark',
    apply: (words) => `(${words.join(' ')})`,
    tool: 'add_brackets',
    asks: [
      'put the words in brackets',
      'write the words in brackets',
      'give the words in brackets',
      'brackets around the words',
      'answer with the words in brackets',
    ],
  },
]

const lexicon =
  'river lamp stone copper paper tiger wagon amber piano coral bread maple garden window silver bottle ' +
  'orange market button castle pepper hammer island velvet rocket pencil forest candle basket mirror ' +
  'ladder marble pillow saddle turtle violin walnut zipper anchor blanket cactus dragon engine falcon ' +
  'guitar helmet insect jacket kettle lemon magnet needle oyster parrot quartz ribbon salmon tunnel ' +
  'umbrella valley whistle yogurt acorn bamboo cherry donkey eagle feather goose honey ivory jungle ' +
  'kitten lantern mango nickel olive panda quilt rabbit spider tomato urchin vessel wizard yellow zebra ' +
  'apron badger cotton desert elbow fabric gravel harbor icicle jasmine kernel lizard meadow nectar orchid ' +
  'pigeon quiver radish sailor timber unicorn vanilla willow almond beetle canyon dolphin ember fiddle'

/** Where words come from. */
export type Words = (random: Random) => string

const known = lexicon.split(' ')
const trained = known.filter((_, at) => at % 3 !== 0)
const measured = known.filter((_, at) => at % 3 === 0)
const consonants = 'bcdfghjklmnprstvwz'
const vowels = 'aeiou'

/** A word that nobody knows, so that a model must read it. */
function invented(random: Random): string {
  const letter = (from: string): string => from[random.int(from.length)]
  return Array.from(
    { length: 1 + random.int(3) },
    () => letter(consonants) + letter(vowels) + (random.next() < 0.4 ? letter(consonants) : ''),
  ).join('')
}

/** Words of training: two in three invented, the others known. */
export const trainingWords: Words = (random) =>
  random.next() < 0.67 ? invented(random) : trained[random.int(trained.length)]

/** Words of the tasks that are measured. None is a word of training. */
export const testWords: Words = (random) => measured[random.int(measured.length)]

/** Different words. */
export function drawWords(random: Random, from: Words, count: number): string[] {
  const drawn = new Set<string>()
  while (drawn.size < count) drawn.add(from(random))
  return [...drawn]
}

export const operation = (name: string): Operation => {
  const found = operations.find((one) => one.name === name)
  if (found === undefined) throw new Error(`no operation ${name}`)
  return found
}
