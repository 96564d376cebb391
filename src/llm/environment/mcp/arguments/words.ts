import { hash32 } from '../../../../engine/random/index.ts'
import type { Task } from '../../../agent/types.ts'

/** A part of the words. Validation and test have parts of their own. */
export type Part = 'train' | 'validation' | 'test'

/**
 * Words of one split: nouns name things, traits describe them, cities are proper names, people are first names, zones are
 * time zones.
 */
export interface SplitWords {
  nouns: readonly string[]
  traits: readonly string[]
  cities: readonly string[]
  people: readonly string[]
  zones: readonly string[]
}

const nouns =
  'river stone harbor lantern meadow orchard copper violin kettle saddle marble thunder willow anchor barley beacon ' +
  'bishop blanket blossom bottle branch bridge bronze bucket button cabin candle canyon carpet castle cedar ' +
  'chapel cherry chimney cliff clover cobalt comet coral cotton cradle crystal dagger desert diamond dolphin dragon ' +
  'eagle ember engine falcon feather fern fiddle finch flint forest fountain fox garden garlic ginger glacier ' +
  'goblet granite grape gravel hammer hazel hedge heron hill honey hornet island ivory ivy jacket jaguar jasmine ' +
  'jewel kernel kestrel kitten ladder lagoon lake lemon leopard lily linen lion lizard lobster locket lotus magnet ' +
  'mango maple market mask melon mill mint mirror moon moss mountain museum needle nest nickel oak oasis ocean olive ' +
  'onion opal orange otter owl oyster paddle palace panther paper parrot pasture peach pearl pebble pelican pepper ' +
  'piano pigeon pillar pillow pine pirate planet plum pocket pony poppy porch prairie prism pumpkin puzzle quail ' +
  'quarry quartz quill rabbit radio raft rain raven reef ribbon ring robin rocket rope rose ruby sail salmon sand ' +
  'sapphire scarf shadow shell shepherd ship silk silver sketch slate snail snow spark sparrow spice spider spring ' +
  'squirrel star statue steam storm stream sugar summit sunset swan sword table temple thistle tiger timber torch ' +
  'tower trail train tulip tunnel turtle valley vase velvet vessel village vine walnut walrus water wave wheat wheel ' +
  'whistle window wing winter wolf wren yarn zebra'
const traits =
  'quiet bright narrow golden hollow gentle rapid silent rusty polished crooked frozen ancient humble clever ' +
  'brave broken calm cheap clean cold cosy curly damp dark deep dense dry dusty early eager empty faint fancy fierce ' +
  'firm flat fresh green grey happy heavy honest huge icy jolly keen large late lazy light little lively lonely long ' +
  'loose loud lucky mild modern muddy neat noble odd old pale plain proud pure quick rare rich ripe rough round ' +
  'royal sharp shiny short shy simple sleepy slim slow small smart smooth soft solid sour spare steady steep stiff ' +
  'strong sunny sweet swift tall tame thick thin tidy tiny tough vast warm weak wet white wide wild wise young'
const cities =
  'Lisbon Oslo Vienna Prague Dublin Madrid Athens Warsaw Helsinki Porto Geneva Milan Turin Naples Lyon Bergen Ghent ' +
  'Krakow Seville Munich Hamburg Zurich Boston Denver Dallas Austin Seattle Toronto Montreal Lima Quito Santiago ' +
  'Cairo Tunis Nairobi Accra Dakar Osaka Kyoto Seoul Hanoi Manila Jakarta Delhi Mumbai Perth Sydney Auckland'

const people =
  'Ada Alan Alice Amir Anna Anton Aria Arjun Astrid Ben Bianca Bruno Carla Carlos Chloe Clara Daniel Diego Dora Edith Elena Elias Emil ' +
  'Emma Erik Esther Eva Farah Felix Fiona Frida Gabriel Grace Greta Hana Hannah Hector Henry Hugo Ida Igor Ines Ingrid Isaac Ivan Jana ' +
  'Jonas Julia Kai Karim Kenji Laila Lars Laura Leo Lena Liam Lina Louis Lucia Luna Maja Marco Maria Marta Max Mei Mila Mina Nadia Nina ' +
  'Noah Nora Olga Oliver Omar Oscar Paul Pedro Petra Priya Rafael Ravi Rita Rosa Samir Sara Silas Sofia Stella Sven Tara Theo Thomas Tom ' +
  'Uma Vera Victor Viola Walter Yara Yuki Zara Zoe'

const zones =
  'Africa/Cairo Africa/Lagos Africa/Nairobi America/Bogota America/Chicago America/Denver America/Lima America/New_York America/Santiago ' +
  'America/Toronto Asia/Bangkok Asia/Dubai Asia/Hong_Kong Asia/Jakarta Asia/Karachi Asia/Kolkata Asia/Manila Asia/Seoul Asia/Shanghai ' +
  'Asia/Singapore Asia/Tehran Asia/Tokyo Australia/Perth Australia/Sydney Europe/Athens Europe/Berlin Europe/Helsinki Europe/Lisbon ' +
  'Europe/London Europe/Madrid Europe/Moscow Europe/Oslo Europe/Paris Europe/Rome Europe/Vienna Pacific/Auckland Pacific/Honolulu UTC'

/** The part that a word belongs to: half are for training, a quarter each for validation and test. */
export function partOf(word: string): Part {
  const bucket = hash32('mcp-words', word) % 4
  return bucket < 2 ? 'train' : bucket === 2 ? 'validation' : 'test'
}

/** The words of a list that belong to the part. Parts share none. */
function part(list: string, split: Part): string[] {
  return list.split(' ').filter((word) => partOf(word) === split)
}

function listsOf(split: Part): SplitWords {
  return {
    nouns: part(nouns, split),
    traits: part(traits, split),
    cities: part(cities, split),
    people: part(people, split),
    zones: part(zones, split),
  }
}

const lists = { train: listsOf('train'), validation: listsOf('validation'), test: listsOf('test') }

/** Returns the words of a split. Tasks with unseen paraphrases use the names of the test split. */
export function wordsOf(split: Task['split']): SplitWords {
  return lists[split === 'unseen-wording' ? 'test' : split]
}

/** The part that these words are of; undefined for words of the caller's own. */
export function partOfWords(words: SplitWords): Part | undefined {
  return (['train', 'validation', 'test'] as const).find((part) => lists[part] === words)
}

/** `entityName`, `get-sum`, `READ_graph2` as spoken words in lower case. */
export function spoken(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())
}
