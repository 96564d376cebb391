import { inNumber, isPlural, singular } from './inflect.ts'
import { dated, nameWords } from './name-words.ts'

/** What a request asks for. `of` are the words of a property, `noun` those of a record in the singular. */
export type Asked =
  | { form: 'whole' | 'number' }
  | { form: 'line' | 'sentence'; which: 'first' | 'last' }
  | { form: 'field'; of: string }
  | { form: 'count'; noun: string }
  | { form: 'which'; noun: string; of: string; by: string; value: string }
  | { form: 'count-where'; noun: string; by: string; value: string }
  | { form: 'most' | 'least'; noun: string; of: string; by: string; counted: boolean }
  | { form: 'all'; noun: string; of: string }
  | { form: 'missing'; noun: string; of: string; by: string; value: string }
  | { form: 'joined'; noun: string; by: string; value: string; to: string; of: string }

/** Noun phrases ("the number of notes") and questions ("how many notes are there") for what is asked. */
export interface AskedWords {
  phrases: readonly string[]
  questions: readonly string[]
}

/** "entityType" of an "entity" as the words "entity type"; only "type" where the noun stands beside it. `ordered_on` as "ordered date". */
export function fieldWords(key: string, noun = ''): string {
  const words = dated(nameWords(key))
  const head = singular(noun.split(' ').at(-1) ?? '')
  return (words.length > 1 && words[0] === head ? words.slice(1) : words).join(' ')
}

/** The verb of a question for this property. */
export const isAre = (of: string): 'is' | 'are' => (isPlural(of.split(' ').at(-1) ?? '') ? 'are' : 'is')

/** The words of what is asked, in the templates that training uses or in others. */
export function askedWords(asked: Asked, rare: boolean): AskedWords {
  switch (asked.form) {
    case 'whole':
      return rare
        ? { phrases: ['the exact output', 'the text that came back'], questions: ['which text comes back'] }
        : {
            phrases: ['the result', 'the exact result', 'the answer', 'the outcome'],
            questions: ['what is the result', 'what comes out', 'what do you get', 'what does it say'],
          }
    case 'number':
      return rare
        ? { phrases: ['the figure that came back'], questions: ['which figure comes back'] }
        : {
            phrases: ['the number', 'the result', 'the value', 'the number that comes out'],
            questions: [
              'what is the number',
              'what number comes out',
              'what is the result',
              'how much is it',
            ],
          }
    case 'line':
    case 'sentence': {
      const unit = asked.form
      return rare
        ? { phrases: [`its ${asked.which} ${unit === 'line' ? 'row' : 'statement'}`], questions: [] }
        : {
            phrases: [`the ${asked.which} ${unit}`, `the ${asked.which} ${unit} of the result`],
            questions: [`what is the ${asked.which} ${unit}`, `what does the ${asked.which} ${unit} say`],
          }
    }
    case 'field':
      return rare
        ? { phrases: [`which ${asked.of} it lists`], questions: [`which ${asked.of} is recorded`] }
        : {
            phrases: [`the ${asked.of}`, `its ${asked.of}`],
            questions: [
              `what ${isAre(asked.of)} the ${asked.of}`,
              `what ${isAre(asked.of)} its ${asked.of}`,
              `which ${asked.of} does it have`,
            ],
          }
    case 'count': {
      const many = inNumber(asked.noun, true)
      return rare
        ? {
            phrases: [`the tally of ${many}`, `the quantity of ${many}`],
            questions: [`what do the ${many} number`],
          }
        : {
            phrases: [`the number of ${many}`, `how many ${many} there are`, `the count of ${many}`],
            questions: [
              `how many ${many} are there`,
              `how many ${many} do we have`,
              `what is the number of ${many}`,
            ],
          }
    }
    case 'count-where': {
      const many = inNumber(asked.noun, true)
      const { by, value } = asked
      return rare
        ? { phrases: [`the tally of ${many} having ${value} for their ${by}`], questions: [] }
        : {
            phrases: [
              `the number of ${many} with the ${by} ${value}`,
              `how many ${many} have the ${by} ${value}`,
            ],
            questions: [
              `how many ${many} have the ${by} ${value}`,
              `how many ${many} are there with the ${by} ${value}`,
            ],
          }
    }
    case 'which':
    case 'missing': {
      const { noun, of, by, value } = asked
      return rare
        ? {
            phrases: [`which ${of} belongs to the ${noun} listed with ${value} for its ${by}`],
            questions: [`given the ${noun} listed under the ${by} ${value}, which ${of} is recorded`],
          }
        : {
            phrases: [
              `the ${of} of the ${noun} whose ${by} is ${value}`,
              `the ${of} of the ${noun} with the ${by} ${value}`,
              `which ${of} the ${noun} with the ${by} ${value} has`,
            ],
            questions: [
              `what ${isAre(of)} the ${of} of the ${noun} whose ${by} is ${value}`,
              `what ${isAre(of)} the ${of} of the ${noun} with the ${by} ${value}`,
              `which ${of} does the ${noun} with the ${by} ${value} have`,
            ],
          }
    }
    case 'joined': {
      const { noun, by, value, to, of } = asked
      const record = `the ${noun} with the ${by} ${value}`
      return rare
        ? {
            phrases: [`which ${of} is recorded for the ${to} behind ${record}`],
            questions: [`${record} leads to a ${to}, which ${of} is recorded for it`],
          }
        : {
            phrases: [
              `the ${of} of the ${to} of ${record}`,
              `the ${of} of the ${to} that belongs to ${record}`,
              `which ${of} the ${to} of ${record} has`,
            ],
            questions: [
              `what is the ${of} of the ${to} of ${record}`,
              `which ${of} does the ${to} of ${record} have`,
              `for ${record}, what is the ${of} of the ${to}`,
            ],
          }
    }
    case 'most':
    case 'least': {
      const { noun, of, by, counted } = asked
      const top = asked.form === 'most'
      const rank = counted ? (top ? 'the most' : 'the fewest') : top ? 'the highest' : 'the lowest'
      return rare
        ? {
            phrases: [`which ${noun} leads ${top ? '' : 'from below '}in ${by}, by its ${of}`],
            questions: [],
          }
        : {
            phrases: [
              `the ${of} of the ${noun} with ${rank} ${by}`,
              `which ${noun} has ${rank} ${by}, by its ${of}`,
            ],
            questions: [
              `what is the ${of} of the ${noun} with ${rank} ${by}`,
              `which ${of} does the ${noun} with ${rank} ${by} have`,
            ],
          }
    }
    case 'all': {
      const { noun, of } = asked
      const things = inNumber(noun, true)
      const values = inNumber(of, true)
      return rare
        ? {
            phrases: [`every ${of} found among the ${things}`],
            questions: [`which ${values} occur among the ${things}`],
          }
        : {
            phrases: [
              `the ${values} of all the ${things}`,
              `the ${values} of the ${things}`,
              `all ${values} of the ${things}`,
            ],
            questions: [`what are the ${values} of the ${things}`, `which ${values} do the ${things} have`],
          }
    }
  }
}
