import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openRunFolder } from '../../runs/run-folder.ts'
import { decodeEpisode, encodeEpisode } from '../episode/codec.ts'
import type { Episode } from '../episode/types.ts'
import { InfrastructureError } from '../tool/tool.ts'
import { createScoreJournal, recordedScore, score, scoreGroups } from './reward.ts'
import type { GroupReward } from './reward.ts'
import { episodeOf } from './testing/episode-of.ts'

const group = (name: string, size: number): Episode[] =>
  Array.from({ length: size }, (_, i) => episodeOf({ id: `${name}/${i}`, group: name }))

/** A slow judge that counts its calls. */
function slowReward() {
  const calls: string[] = []
  return {
    calls,
    reward: async ({ id }: Episode) => {
      calls.push(id)
      await new Promise(setImmediate)
      return { value: calls.length, parts: { first: 1 }, reason: 'so it seems' }
    },
  }
}

test('a reward that is not a number is refused, whatever its form', async () => {
  await expect(score(() => Number.NaN, episodeOf())).rejects.toThrow(/finite/)
  await expect(score(() => ({ value: 1, parts: { a: Infinity } }), episodeOf())).rejects.toThrow(/finite/)
  const old = (() => ({ success: true })) as unknown as () => number
  await expect(score(old, episodeOf())).rejects.toMatchObject({ code: 'bad-reward' })
  const short: GroupReward = { scoreGroup: () => [1] }
  await expect(scoreGroups(short, [group('a', 2)])).rejects.toMatchObject({ given: 1 })
})

test('a slow reward is called once an episode, however often the score is read', async () => {
  const { calls, reward } = slowReward()
  const groups = [group('a', 3), group('b', 2)]
  groups[1][0].status = 'masked'
  const values = await scoreGroups(reward, groups)
  expect(values[1][0]).toBeNull()
  expect(await scoreGroups(reward, groups)).toEqual(values)
  // As an episode is written to the run folder and read by a report, a data set or a resumed run.
  const read = groups.map((members) => members.map((one) => decodeEpisode(encodeEpisode(one))))
  expect(await scoreGroups(reward, read)).toEqual(values)
  expect(recordedScore(read[0][0])).toEqual({
    value: values[0][0],
    parts: { first: 1 },
    reason: 'so it seems',
  })
  expect(calls.toSorted()).toEqual(['a/0', 'a/1', 'a/2', 'b/1'])
  // Another name is another score of the same episodes.
  expect((await scoreGroups(() => 7, groups, { name: 'other' }))[0]).toEqual([7, 7, 7])
  expect(await scoreGroups(reward, groups)).toEqual(values)
})

test('at most `concurrency` episodes are judged at the same time', async () => {
  let [now, most] = [0, 0]
  const reward = async (): Promise<number> => {
    most = Math.max(most, ++now)
    await new Promise(setImmediate)
    return now--
  }
  await scoreGroups(reward, [group('a', 9)], { concurrency: 3 })
  expect(most).toBe(3)
})

test('a process that replays the same episodes reads their scores, even after an incomplete line', async () => {
  const folder = openRunFolder({ path: mkdtempSync(join(tmpdir(), 'agoge-scores-')) })
  const { calls, reward } = slowReward()
  const first = await scoreGroups(reward, [group('a', 3)], {
    journal: createScoreJournal(folder, 'j/s.jsonl'),
  })
  folder.write(
    'j/s.jsonl',
    folder.read('j/s.jsonl', (text) => `${text}{"key":"torn`),
  )
  const again = await scoreGroups(
    reward,
    [[...group('a', 3), episodeOf({ id: 'a/0', answer: 'other words' })]],
    {
      journal: createScoreJournal(folder, 'j/s.jsonl'),
    },
  )
  expect(again[0].slice(0, 3)).toEqual(first[0])
  // The same id with other text is another episode.
  expect(calls.toSorted()).toEqual(['a/0', 'a/0', 'a/1', 'a/2'])
  folder.write(
    'j/s.jsonl',
    folder.read('j/s.jsonl', (text) => text.replace('"first":1', '"first":9')),
  )
  expect(() => createScoreJournal(folder, 'j/s.jsonl')).toThrow(/damaged/)
  // Scores of fast rewards are not written to a file.
  const other = createScoreJournal(folder, 'j/quick.jsonl')
  await scoreGroups(() => 1, [group('b', 2)], { journal: other })
  expect(folder.has('j/quick.jsonl')).toBe(false)
})

test('a group reward receives the unmasked episodes of one task, once', async () => {
  const seen: string[][] = []
  const first: GroupReward = {
    scoreGroup(episodes) {
      seen.push(episodes.map(({ id }) => id))
      return episodes.map((_, i) => (i === 0 ? 1 : 0))
    },
  }
  const groups = [group('a', 3), group('b', 2)]
  groups[0][0].status = 'masked'
  for (let time = 0; time < 2; time++)
    expect(await scoreGroups(first, groups)).toEqual([
      [null, 1, 0],
      [1, 0],
    ])
  expect(seen).toEqual([
    ['a/1', 'a/2'],
    ['b/0', 'b/1'],
  ])
})

test('infrastructure that fails masks and says why; a mistake ends the run; an abort is its reason', async () => {
  const [episodes] = [group('a', 2)]
  const down = (): never => {
    throw new InfrastructureError('the judge is down')
  }
  expect(await scoreGroups(down, [episodes])).toEqual([[null, null]])
  expect(recordedScore(episodes[0])).toEqual({ value: null, reason: 'the judge is down' })
  const wrong = (): never => {
    throw new TypeError('x is undefined')
  }
  await expect(scoreGroups(wrong, [group('a', 1)])).rejects.toThrow('x is undefined')
  const { signal } = { signal: AbortSignal.abort(new Error('enough')) }
  await expect(scoreGroups(() => 1, [group('a', 1)], { signal })).rejects.toThrow('enough')
})
