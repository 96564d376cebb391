import type { JsonSchema } from '../../../../untrusted/schema-check.ts'
import { between, chance, distinct, personOrPlace, pick, shortLine, stem, word, words } from '../draw.ts'
import type { Draw } from '../draw.ts'
import { lexiconWord } from '../lexicon.ts'
import { choice, flag, integer, listOf, number, text } from './server.ts'

/** A property of the records of an invented server. */
export interface Field {
  /** In words: "due date". */
  words: string
  schema: JsonSchema
  draw: () => unknown
}

const textFields =
  'city,owner,color,room,team,place,author,shape,shelf,category,topic,material,origin,country,brand,street,language,flavor,host,source,region,supplier,model,genre,department,tool,theme,texture,partner,guide'
const numberFields =
  'age,price,amount,size,quantity,weight,height,length,score,level,rank,cost,distance,width,depth,speed,points,floor,seats,pages,stock,budget,rating,volume'
const flagFields =
  'active,urgent,public,private,open,ready,broken,paid,visible,locked,fragile,shared,hidden,new'
const choiceFields: Readonly<Record<string, readonly string[]>> = {
  status: ['open', 'closed', 'waiting', 'in_progress', 'done', 'blocked', 'paused', 'planned'],
  priority: ['low', 'normal', 'high', 'urgent'],
  size: ['small', 'medium', 'large', 'tiny', 'huge'],
  stage: ['draft', 'review', 'final', 'idea', 'ready'],
  mood: ['happy', 'calm', 'angry', 'tired', 'bored'],
  season: ['spring', 'summer', 'autumn', 'winter'],
  level: ['beginner', 'middle', 'expert'],
  state: ['new', 'used', 'broken', 'lost', 'sold'],
}
const listFields = 'tags,labels,members,colors,parts,keywords,guests,topics,places,helpers'
const dateFields = 'date,due date,start date,birthday,deadline,delivery date,day'

const of = (list: string): string[] => list.split(',')

export const dateText = (d: Draw): string =>
  `${between(d, 2019, 2031)}-${String(between(d, 1, 12)).padStart(2, '0')}-${String(between(d, 1, 28)).padStart(2, '0')}`
export const timeText = (d: Draw): string =>
  `${String(between(d, 6, 22)).padStart(2, '0')}:${pick(d, ['00', '15', '30', '45'])}`

/** One word, usually; sometimes a name or two words. */
export function valueText(d: Draw): string {
  const draw = d.random.next()
  if (draw < 0.3) return lexiconWord(d, 'noun')
  if (draw < 0.55) return word(d)
  if (draw < 0.75) return personOrPlace(d)
  return `${lexiconWord(d, 'adjective')} ${lexiconWord(d, 'noun')}`
}

/** What a record is called. */
export function nameText(d: Draw): string {
  const draw = d.random.next()
  return draw < 0.35 ? personOrPlace(d) : draw < 0.6 ? word(d) : draw < 0.8 ? stem(d, 2) : valueText(d)
}

function drawField(d: Draw): Field {
  const draw = d.random.next()
  const named = (known: string): string => (chance(d, 0.65) ? pick(d, of(known)) : lexiconWord(d, 'noun'))
  if (draw < 0.08)
    return {
      words: pick(d, ['email', 'mail']),
      schema: chance(d, 0.5) ? text : { type: 'string', format: 'email' },
      draw: () => `${word(d).toLowerCase()}@${word(d).toLowerCase()}.${pick(d, ['org', 'com', 'net'])}`,
    }
  if (draw < 0.13)
    return {
      words: pick(d, ['phone', 'phone number', 'code', 'serial number']),
      schema: text,
      draw: () => `${between(d, 100, 999)}-${between(d, 1000, 9999)}`,
    }
  if (draw < 0.4) return { words: named(textFields), schema: text, draw: () => valueText(d) }
  if (draw < 0.6) {
    const whole = chance(d, 0.7)
    return {
      words: named(numberFields),
      schema: whole ? integer : number,
      draw: () => (whole ? between(d, 1, chance(d, 0.3) ? 2000 : 99) : between(d, 1, 400) / 4),
    }
  }
  if (draw < 0.68)
    return {
      words: chance(d, 0.75) ? pick(d, of(flagFields)) : `is ${lexiconWord(d, 'adjective')}`,
      schema: flag,
      draw: () => chance(d, 0.5),
    }
  if (draw < 0.8) {
    const known = pick(d, Object.keys(choiceFields))
    const own = chance(d, 0.35)
    const values = own
      ? distinct(between(d, 2, 4), () => lexiconWord(d, 'adjective'))
      : [...choiceFields[known]].slice(0, between(d, 2, choiceFields[known].length))
    return {
      words: own ? pick(d, ['kind', 'type', 'grade', 'class', lexiconWord(d, 'noun')]) : known,
      schema: choice(values),
      draw: () => pick(d, values),
    }
  }
  if (draw < 0.88) return { words: pick(d, of(listFields)), schema: listOf(text), draw: () => words(d, 1, 3) }
  if (draw < 0.95)
    return {
      words: pick(d, of(dateFields)),
      schema: chance(d, 0.5) ? text : { type: 'string', format: 'date' },
      draw: () => dateText(d),
    }
  return {
    words: pick(d, ['note', 'comment', 'text', 'message', 'reason']),
    schema: text,
    draw: () => shortLine(d).replaceAll('"', ''),
  }
}

/** Fields with different names, none of which is in `taken`. */
export function drawFields(d: Draw, count: number, taken: readonly string[]): Field[] {
  const found: Field[] = []
  for (let tries = 0; found.length < count && tries < 60; tries += 1) {
    const field = drawField(d)
    if (![...taken, ...found.map((other) => other.words)].includes(field.words)) found.push(field)
  }
  return found
}
