// Gives inputs to parsers, as the part of `npm run attack` asks.
import { answerTasks } from '../in-thread.ts'
import { attackWith, inputOf } from './attack-input.ts'
import { shownInput } from './parser.ts'
import { parsers } from './parsers.ts'
import { useFolder } from './scratch.ts'
import { shrink } from './shrink.ts'

export interface FuzzTask {
  parser: string
  seed: number
  from: number
  to: number
}

export interface FuzzAnswer {
  /** How many inputs came how far. */
  reached: [number, number, number, number]
  slowest: number
  faults: { number: number; fault: string; shown: string }[]
}

/** Faults of one task that are made small. */
const mostShrunk = 2

/** Inputs that each thread gives a parser first, without counting them: what is loaded then is no work of the parser. */
const warmingUp = 3
const isWarm = new Set<string>()

answerTasks(
  async (
    { parser: name, seed, from, to }: FuzzTask,
    folder: string,
    setPlace: (place: number) => void,
  ): Promise<FuzzAnswer> => {
    if (isWarm.size === 0) useFolder(folder)
    const parser = parsers.find((each) => each.name === name)
    if (parser === undefined) throw new Error(`no parser "${name}"`)
    if (!isWarm.has(name))
      for (let number = 0; number < warmingUp; number++) await attackWith(parser, inputOf(parser, 0, number))
    isWarm.add(name)
    const answer: FuzzAnswer = { reached: [0, 0, 0, 0], slowest: 0, faults: [] }
    for (let number = from; number < to; number++) {
      setPlace(number)
      const input = inputOf(parser, seed, number)
      const { stage, milliseconds, fault } = await attackWith(parser, input)
      answer.reached[stage]++
      answer.slowest = Math.max(answer.slowest, milliseconds)
      if (fault === undefined) continue
      const small = answer.faults.length < mostShrunk ? await shrink(parser, input, fault) : input
      answer.faults.push({ number, fault, shown: shownInput(small) })
    }
    return answer
  },
)
